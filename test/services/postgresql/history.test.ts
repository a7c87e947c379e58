import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { INHERITED } from '../../support/command.ts';
import { eventually } from '../../support/eventually.ts';
import { needs } from '../../support/components.ts';
import { folderForAll } from '../../support/temporary-folder.ts';
import { completeExport, DatabaseServer, DatabaseSession, EXAMPLE, exportLines, HIDING } from './server.ts';

const ADAPTED = join(import.meta.dirname, 'other-schema');

/** Statements that notes do not show, and the reason for which the next export has everything. */
const UNNOTED = {
  'the renaming of a label': ["ALTER TYPE box.state RENAME VALUE 'on sale' TO 'selling'", 'type box.state'],
  'a detached partition': ['ALTER TABLE box.tickets DETACH PARTITION box.tickets_2', 'table box.tickets'],
  'an attached partition': [
    'ALTER TABLE box.tickets ATTACH PARTITION box.tickets_2 FOR VALUES FROM (450) TO (MAXVALUE)',
    'table box.tickets',
  ],
  'a truncated partition': ['TRUNCATE box.tickets_2', 'table box.tickets_2'],
  'a view': [
    `CREATE OR REPLACE VIEW feed.offers AS SELECT NULL AS id, NULL AS organization_id, NULL AS line WHERE 1 = 2`,
    'view feed.offers',
  ],
  'a function': [
    `CREATE OR REPLACE FUNCTION feed.changed_offers(since xid8) RETURNS TABLE (id text) LANGUAGE sql STABLE AS $$
       SELECT id FROM feed.noted(since, 'none') $$`,
    'function feed.changed_offers',
  ],
  'the renaming of a column that a view shows': [
    'ALTER TABLE box.buyers RENAME COLUMN email TO mail',
    'table box.buyers',
  ],
  'a part of a composite type': [
    'ALTER TYPE box.place RENAME ATTRIBUTE row_name TO name',
    'composite type box.place',
  ],
  'a trigger that was disabled meanwhile': [
    `ALTER TABLE box.buyers DISABLE TRIGGER feed_buyers_id; UPDATE box.buyers SET mail = '1@example.com' WHERE id = 1;
     ALTER TABLE box.buyers ENABLE ALWAYS TRIGGER feed_buyers_id`,
    'table box.buyers',
  ],
  'frozen rows': [
    String.raw`\copy box.dates TO rows; BEGIN; TRUNCATE box.dates; \copy box.dates FROM rows WITH (FREEZE); COMMIT`,
    'table box.dates',
  ],
} as const;

/** Statements that change no line, or that notes show. */
const NOTED = {
  'changes as a replica': `SET session_replication_role = replica; UPDATE box.buyers SET mail = 'y@example.org' WHERE id = 2`,
  maintenance:
    'VACUUM FREEZE ANALYZE box.orders; CREATE INDEX ON box.orders (placed); REINDEX TABLE box.orders',
  'objects that no line shows':
    'CREATE TYPE box.mood AS ENUM (); CREATE TABLE box.others (order_id bigint REFERENCES box.orders)',
} as const;

const commandsOf = (statements: string) =>
  statements.split(';').flatMap((statement) => ['-c', statement.trim()]);

describe('An export of changes', () => {
  needs('PostgreSQL 15');
  const inFolder = folderForAll();
  let server: DatabaseServer;
  let last: string;

  before(async () => {
    server = new DatabaseServer(inFolder);
    await server.psql(['-f', join(ADAPTED, 'tables.sql')]);
    await prepare();
    last = '';
    await next();
  });

  after(() => {
    server[Symbol.dispose]();
  });

  async function prepare(): Promise<void> {
    const watched = `watched=${join(ADAPTED, 'watched.sql')}`;
    const files = [join(ADAPTED, 'views.sql'), join(EXAMPLE, 'changes.sql')];
    await server.psql(['-v', watched, ...files.flatMap((file) => ['-f', file])]);
  }

  /** Exports, and returns the reason to export everything. The following export continues from this one. */
  async function next(of = server): Promise<string> {
    const { token, reason } = await exportLines(of, inFolder('export'), last);
    await completeExport(of, token);
    last = token;
    return reason;
  }

  for (const [change, [statements, name]] of Object.entries(UNNOTED))
    it(`has everything, once, after ${change}`, async () => {
      await server.psql(commandsOf(statements), inFolder(''));
      expect(await next())
        .to.match(/^changed: /)
        .and.include(name);
      expect(await next()).to.equal('');
    });

  for (const [change, statements] of Object.entries(NOTED))
    it(`has changes alone after ${change}`, async () => {
      await server.psql(commandsOf(statements), inFolder(''));
      expect(await next()).to.equal('');
    });

  it('has the rows that logical replication brings', async () => {
    await server.psql(['-c', 'CREATE DATABASE origin']);
    const inOrigin = (...commands: string[]) =>
      server.psql(['-d', 'origin', ...commands.flatMap((command) => ['-c', command])]);
    await inOrigin(
      'CREATE SCHEMA box',
      'CREATE TABLE box.buyers (id bigint PRIMARY KEY, mail text)',
      "INSERT INTO box.buyers VALUES (3, 'three@example.org')",
      'CREATE PUBLICATION buyers FOR TABLE box.buyers',
      "SELECT pg_create_logical_replication_slot('buyers', 'pgoutput')",
      "UPDATE box.buyers SET mail = 'replicated@example.org'",
    );
    const connection = `host=${server.folder} user=foyer dbname=origin`;
    await server.psql([
      '-c',
      `CREATE SUBSCRIPTION buyers CONNECTION '${connection}' PUBLICATION buyers WITH (create_slot = false, copy_data = false)`,
    ]);
    await eventually(async () => {
      const [mail] = await server.valuesOf('SELECT mail FROM box.buyers WHERE id = 3');
      return mail === 'replicated@example.org';
    });
    await server.psql(['-c', 'DROP SUBSCRIPTION buyers']);
    expect(await next()).to.equal('');
    expect(readFileSync(inFolder('export/orders.ndjson'), 'utf8')).to.include('replicated@example.org');
  });

  it('has everything as long as a trigger is missing, or ignores replication', async () => {
    for (const statement of [
      'ALTER TABLE box.companies ENABLE TRIGGER ALL',
      'DROP TRIGGER feed_organizations_id ON box.companies',
    ]) {
      await server.psql(['-c', statement]);
      expect(await next()).to.match(/^changed: /);
      for (let i = 0; i < 2; i++)
        expect(await next()).to.equal(
          'box.companies has no trigger feed_organizations_id, or not ENABLE ALWAYS; run changes.sql again',
        );
    }
    await server.psql(['-c', 'ALTER TABLE box.buyers RENAME COLUMN mail TO email']);
    await prepare();
    expect(await next()).to.equal('this database does not have the last export');
    expect(await next()).to.equal('');
  });

  it('has everything after each change of a row whose noted column was renamed', async () => {
    await server.psql(['-c', 'ALTER TABLE box.dates RENAME COLUMN show TO show_id']);
    expect(await next()).to.match(/^changed: .*table box\.dates/);
    for (let i = 0; i < 2; i++) {
      await server.psql(['-c', "UPDATE box.dates SET length = length + interval '1 minute'"]);
      expect(await next()).to.match(/^box\.dates lacks show(-number)? of a trigger; run changes\.sql again$/);
    }
    await server.psql(['-c', 'ALTER TABLE box.dates RENAME COLUMN show_id TO show']);
    expect(await next()).to.match(/^changed: /);
  });

  it('has all records of an organization that a view shows again, and names one that it hides', async () => {
    await server.psql(['CREATE TABLE hidden (id text)', ...HIDING].flatMap((command) => ['-c', command]));
    await next();
    const linesOf = (name: string) =>
      readFileSync(inFolder(`export/${name}.ndjson`), 'utf8')
        .trimEnd()
        .split('\n');

    await server.psql(['-c', "INSERT INTO hidden VALUES ('2')"]);
    expect(await next()).to.equal('');
    expect(linesOf('deletions')).to.deep.equal(['{"id": "2", "collection": "organizations"}']);

    await server.psql(['-c', 'DELETE FROM hidden']);
    expect(await next()).to.equal('');
    expect(linesOf('organizations')).to.deep.equal([
      '{"name": "South", "complete": true, "organizationId": "2"}',
    ]);
    const [orders] = await server.valuesOf("SELECT count(*) FROM feed.orders WHERE organization_id = '2'");
    expect(linesOf('orders')).to.have.length(Number(orders));
  });

  it('has the changes of a late commit, although another feed ended during the export', async () => {
    const [late, slow] = [new DatabaseSession(server), new DatabaseSession(server)];
    await late.run("BEGIN; UPDATE box.buyers SET email = 'late@example.org' WHERE id = 9");
    const [start = ''] = readFileSync(join(EXAMPLE, 'export.sql'), 'utf8').split('COPY (');
    await slow.run(`\\set last ''\n\\set requested all\n\\set after ''\n${start}SELECT`);
    await late.run('COMMIT');
    await late.end();
    for (let i = 0; i < 3; i++) expect(await next()).to.equal('');
    await slow.run(`COMMIT; SELECT feed.complete(:'token', '')`);
    await slow.end();

    const [token] = await server.valuesOf(
      "SELECT token FROM feed.exports WHERE reason = 'all' ORDER BY exported_at DESC LIMIT 1",
    );
    expect(await exportLines(server, inFolder('late'), token)).to.include({ reason: '' });
    expect(readFileSync(inFolder('late/orders.ndjson'), 'utf8')).to.include('late@example.org');
  });

  describe('finds a database with another history', () => {
    const change = (of = server) =>
      of.psql(['-c', "UPDATE box.orders SET placed = placed + interval '1 hour' WHERE id = 5"]);

    it('after pg_restore --clean', async () => {
      const options = { env: { ...INHERITED, ...server.environment } };
      execFileSync('pg_dump', ['-Fc', '-f', inFolder('dump')], options);
      await change();
      expect(await next()).to.equal('');
      // The keys of partitions are no errors to pg_restore.
      spawnSync('pg_restore', ['--clean', '-d', 'postgres', inFolder('dump')], options);
      expect(await next()).to.match(/^this database does not have the last export$/);
      expect(await next()).to.equal('');
    });

    it('after its files were put back, also those of the moment of the last export', async () => {
      server.stop();
      server.copyData('data', 'copy');
      server.start();
      await change();
      expect(await next()).to.equal('');
      await change();
      expect(await next()).to.equal('');
      server.stop();
      server.copyData('copy', 'data');
      server.start();
      expect(await next()).to.match(/^this database does not have the last export$/);
      server.stop();
      server.copyData('data', 'copy');
      server.start();
      await change();
      server.stop();
      server.copyData('copy', 'data');
      server.start();
      await change();
      expect(await next()).to.equal('');
    });

    it('on another server, which has a copy, and on the first one again', async () => {
      using copy = new DatabaseServer(inFolder, { name: 'copied', origin: server });
      await change();
      expect(await next()).to.equal('');
      expect(await next(copy)).to.equal('this database does not have the last export');
      expect(await next(copy)).to.equal('');
      expect(await next()).to.equal('this database does not have the last export');
    });

    it('after a failover', async () => {
      using standby = new DatabaseServer(inFolder, { name: 'standby', origin: server, isStandby: true });
      standby.promote();
      expect(await next(standby)).to.equal('the database was copied, restored or failed over');
      expect(await next(standby)).to.equal('');
    });
  });
});
