import { rmSync } from 'node:fs';
import { expect } from 'chai';
import { parseTimestamp } from '../../../src/contract/timestamp.ts';
import { byCollection } from '../../../src/snapshot/format/layout.ts';
import { readSnapshot } from '../../support/read-snapshot.ts';
import { needs } from '../../support/components.ts';
import { build, contentOf, textsOf } from '../../support/import-folder.ts';
import { folderForAll } from '../../support/temporary-folder.ts';
import { DatabaseServer, exportLines } from './server.ts';

describe('The views and triggers of the PostgreSQL example', () => {
  needs('PostgreSQL 15');
  const inFolder = folderForAll();
  let server: DatabaseServer;

  before(async () => {
    server = new DatabaseServer(inFolder);
    await server.load(inFolder, { events: 4, tickets: 60 });
  });

  after(() => {
    server[Symbol.dispose]();
  });

  it('export the sample that the tables were filled from', async () => {
    await exportLines(server, inFolder('exported'));
    expect(await recordsIn('exported')).to.deep.equal(await recordsIn('sample'));
  });

  it('note every row that was inserted', async () => {
    const [source, since] = await server.valuesOf('SELECT feed.source(), xid FROM feed.complete_from');
    const { extent } = await exportLines(server, inFolder('changes'), source, since);
    expect(extent).to.equal('changes');
    rmSync(inFolder('changes/deletions.ndjson'));
    expect(await recordsIn('changes')).to.deep.equal(await recordsIn('sample'));
  });

  it('note every change of a column, and every deletion, that a line shows', async () => {
    const { code, stdout, stderr } = await server.run('check.sh');
    expect(code, stdout + stderr).to.equal(0);
    const [, showing] = /, of which (\d+) change lines, 0 are not noticed\n$/.exec(stdout) ?? [];
    expect(Number(showing), stdout).to.be.above(180);
  });

  it('find the records of rows that were noted without their organization', async () => {
    const [orders, found] = await server.valuesOf(`
      BEGIN;
      INSERT INTO feed.changes (kind, id) SELECT 'customers', customer_id FROM orders;
      SELECT count(*), (SELECT count(*) FROM feed.changed_orders(pg_current_xact_id())) FROM orders;
      ROLLBACK`);
    expect(found).to.equal(orders);
  });

  it('export everything when the changes are not known', async () => {
    const [source, since, next] = await server.valuesOf(
      'SELECT feed.source(), xid, pg_snapshot_xmin(pg_current_snapshot()) FROM feed.complete_from',
    );
    const extentSince = async (...feed: string[]) =>
      (await exportLines(server, inFolder('extent'), ...feed)).extent;
    expect(await extentSince(source, since)).to.equal('changes');
    expect(await extentSince(`${source}0`, since), 'other cluster').to.equal('everything');
    expect(await extentSince(source, String(Number(since) - 1)), 'before the triggers').to.equal(
      'everything',
    );

    await server.psql(['-c', 'TRUNCATE attendee_answers']);
    expect(await extentSince(source, next), 'truncation').to.equal('everything');
    const [later] = await server.valuesOf('SELECT pg_snapshot_xmin(pg_current_snapshot())');
    expect(await extentSince(source, later), 'after the truncation').to.equal('changes');

    await server.psql(['-c', "INSERT INTO organizations VALUES ('brief', 'Brief')"]);
    await server.psql(['-c', "DELETE FROM organizations WHERE id = 'brief'"]);
    expect(await extentSince(source, later), 'an organization gone').to.equal('everything');

    await server.psql(['-c', `SELECT feed.trim('${later}')`]);
    expect(await extentSince(source, next), 'trimmed').to.equal('everything');
  });

  it('trim the changes of earlier feeds, and those of a restored cluster with higher transaction ids', async () => {
    const [now] = await server.valuesOf('SELECT pg_snapshot_xmin(pg_current_snapshot())');
    await server.psql([
      '-c',
      "INSERT INTO feed.changes VALUES ('tickets', NULL, 'old', '10'), ('tickets', NULL, 'far', '9000000')",
    ]);
    await server.psql(['-c', 'UPDATE organizations SET name = name']);
    await server.psql(['-c', `SELECT feed.trim('${now}')`]);
    expect(await server.valuesOf("SELECT string_agg(DISTINCT kind, ' ') FROM feed.changes")).to.deep.equal([
      'organizations',
    ]);
  });

  /** Returns the records of a snapshot of an import folder, with instants in place of timestamps. */
  async function recordsIn(folder: string): Promise<unknown> {
    await build(inFolder(folder), inFolder(`${folder}.sqlite`));
    const { organizations } = readSnapshot(inFolder(`${folder}.sqlite`));
    return organizations
      .map(contentOf)
      .map((content) => [
        content.organizationId,
        byCollection(({ name }) => textsOf(content[name]).map(withInstants)),
      ]);
  }
});

function withInstants(record: string): unknown {
  return JSON.parse(record, (_, value: unknown) =>
    typeof value === 'string' ? (parseTimestamp(value) ?? value) : value,
  );
}
