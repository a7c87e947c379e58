import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { INHERITED } from '../../support/command.ts';
import { needs } from '../../support/components.ts';
import { build, digestsOf } from '../../support/import-folder.ts';
import { readSnapshot } from '../../support/read-snapshot.ts';
import { folderForAll } from '../../support/temporary-folder.ts';
import { DatabaseServer, EXAMPLE, exportLines } from './server.ts';

const ADAPTED = join(import.meta.dirname, 'other-schema');

describe('The PostgreSQL example, adapted to another schema', () => {
  needs('PostgreSQL 15');
  const inFolder = folderForAll();
  let server: DatabaseServer;

  before(async () => {
    server = new DatabaseServer(inFolder);
    await server.psql(['-f', join(ADAPTED, 'tables.sql')]);
    mkdirSync(inFolder('snapshots'));
  });

  after(() => {
    server[Symbol.dispose]();
  });

  /** Creates the views and triggers, without a text of `watched.sql`. */
  async function prepare(without: string | RegExp = ''): Promise<void> {
    const watched = readFileSync(join(ADAPTED, 'watched.sql'), 'utf8');
    const adapted = watched.replace(without, '');
    if (without !== '') expect(adapted).to.not.equal(watched);
    writeFileSync(inFolder('watched.sql'), adapted);
    await server.psql(['-f', join(ADAPTED, 'views.sql')]);
    await server.psql(['-v', `watched=${inFolder('watched.sql')}`, '-f', join(EXAMPLE, 'changes.sql')]);
  }

  describe('publishes the database', () => {
    before(() => prepare());

    const show = (number: number) => `(SELECT id FROM box.shows WHERE title = 'Show ${number}')`;
    for (const [change, statements] of Object.entries({
      'as it is at first': '',
      'after a ticket is deleted': 'DELETE FROM box.tickets WHERE ("order", number) = (1, 2)',
      'after an order is deleted with its tickets':
        'DELETE FROM box.tickets WHERE "order" = 2; DELETE FROM box.orders WHERE id = 2',
      'after an event moves to another organization with its tickets and orders': `UPDATE box.shows SET company = 3 - company WHERE id = ${show(1)}`,
      'after the change of an enum': `UPDATE box.shows SET state = 'over' WHERE id = ${show(2)}`,
      'after all sessions of an event are deleted': `DELETE FROM box.dates WHERE show = ${show(3)}`,
    })) {
      it(change, async () => {
        await server.psql(['-c', statements]);
        const folders = { FEED_DIR: inFolder('feed'), SNAPSHOT_DIR: inFolder('snapshots') };
        const { code, stdout, stderr } = await server.run('feed.sh', [], folders);
        expect(code, stderr).to.equal(0);
        expect(stdout).to.match(statements === '' ? /^feed\.sh: everything: /m : /^feed\.sh: changes$/m);
        await exportLines(server, inFolder('expected'));
        await build(inFolder('expected'), inFolder('expected.sqlite'));
        const [published, expected] = ['snapshots/main.sqlite', 'expected.sqlite'].map((file) =>
          digestsOf(readSnapshot(inFolder(file))),
        );
        expect(published).to.deep.equal(expected);
      });
    }
  });

  describe('passes check.sh', () => {
    const dump = () =>
      execFileSync('pg_dump', { env: { ...INHERITED, ...server.environment }, encoding: 'utf8' }).replaceAll(
        /^\\(un)?restrict .*/gm,
        '',
      );

    it('with columns of any type, and stays as it was', async () => {
      await prepare();
      const before = dump();
      const { code, stdout } = await server.run('check.sh');
      expect(code, stdout).to.equal(0);
      // Keys, and rows to which others refer.
      expect(
        /could not be changed: .*/.exec(stdout)?.[0].replaceAll(/, box\.tickets_\d\."order"/g, ''),
      ).to.equal(
        'could not be changed: box.companies.id, deleted rows of box.companies, box.shows.id, deleted rows of box.shows, ' +
          'box.dates.show, box.buyers.id, deleted rows of box.buyers, box.orders.id, deleted rows of box.orders',
      );
      expect(dump()).to.equal(before);
    });

    for (const [what, without, found] of [
      ['a trigger', `('box.dates', 'events', 'show'),`, 'deleted rows of box.dates'],
      ['a table', `('box.tickets', 'tickets', 'order-number'),`, 'deleted rows of box.tickets_1'],
      ['a join', /UNION.*\n.*'buyers'.*/, 'box.buyers.email'],
    ] as const) {
      it(`unless ${what} is missing`, async () => {
        await prepare(without);
        const { code, stdout } = await server.run('check.sh');
        expect(code).to.equal(1);
        expect(stdout).to.include(`not noticed: ${found} (`);
      });
    }

    it('unless triggers ignore inserted rows, and values that become null or replace it', async () => {
      await prepare();
      const trigger = (when: string) =>
        `CREATE TRIGGER "feed ${when}" AFTER ${when} EXECUTE FUNCTION feed.note('orders', 'id')`;
      const updated =
        'UPDATE ON box.orders FOR EACH ROW WHEN (OLD.total IS NOT NULL AND NEW.total IS NOT NULL)';
      await server.psql(['-c', 'DROP TRIGGER feed_orders_id ON box.orders', '-c', trigger(updated)]);
      await server.psql(['-c', trigger('DELETE ON box.orders FOR EACH ROW')]);
      const { code, stdout } = await server.run('check.sh');
      expect(code).to.equal(1);
      for (const found of [
        'inserted rows of box.orders, which',
        'box.orders.total to null (',
        'box.orders.total from null (',
      ])
        expect(stdout).to.include(`not noticed: ${found}`);
    });

    it('and learns which indexes are missing', async () => {
      await prepare();
      await server.psql(['-c', 'DROP INDEX box.orders_by_text, box.tickets_by_text, box.orders_buyer_idx']);
      const { stdout } = await server.run('check.sh');
      expect(stdout.match(/^no index: .*/gm)).to.deep.equal([
        'no index: feed.changed_orders reads all of box.orders',
        'no index: feed.changed_tickets reads all of box.orders',
        'no index: feed.orders reads all of box.orders; CREATE INDEX ON box.orders (((id)::text))',
        `no index: feed.tickets reads all of box.tickets; CREATE INDEX ON box.tickets ((((("order")::text || '-'::text) || (number)::text)))`,
      ]);
    });
  });
});
