import { rmSync } from 'node:fs';
import { expect } from 'chai';
import { parseTimestamp } from '../../../src/contract/timestamp.ts';
import { byCollection } from '../../../src/snapshot/format/layout.ts';
import { readSnapshot } from '../../support/read-snapshot.ts';
import { needs } from '../../support/components.ts';
import { build, contentOf, textsOf } from '../../support/import-folder.ts';
import { folderForAll } from '../../support/temporary-folder.ts';
import { completeExport, DatabaseServer, exportLines } from './server.ts';

describe('The views and triggers of the PostgreSQL example', () => {
  needs('PostgreSQL 15');
  const inFolder = folderForAll();
  let server: DatabaseServer;
  let beforeRows: string;

  before(async () => {
    server = new DatabaseServer(inFolder);
    await server.create();
    beforeRows = (await exportLines(server, inFolder('nothing'))).token;
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
    const { token, reason } = await exportLines(server, inFolder('changes'), beforeRows);
    expect(reason).to.equal('');
    await completeExport(server, token);
    rmSync(inFolder('changes/deletions.ndjson'));
    expect(await recordsIn('changes')).to.deep.equal(await recordsIn('sample'));
  });

  it('note every change of a column, and every deletion, that a line shows', async () => {
    const { code, stdout, stderr } = await server.run('check.sh');
    expect(code, stdout + stderr).to.equal(0);
    const [, showing] = /, of which (\d+) change lines, 0 are not noticed\n$/.exec(stdout) ?? [];
    expect(Number(showing), stdout).to.be.above(180);
  });

  it('keep the changes that a feed needs, for each of several feeds, and no others', async () => {
    const noted = async (): Promise<string[]> =>
      (
        await server.valuesOf(
          "SELECT coalesce(string_agg(DISTINCT id, ',' ORDER BY id), '') FROM feed.changes",
        )
      )
        .join()
        .split(',');
    const change = (name: string) =>
      server.psql(['-c', `INSERT INTO organizations VALUES ('${name}', 'New')`]);
    const next = async (last: string) => {
      const { token, reason } = await exportLines(server, inFolder('of a feed'), last);
      expect(reason).to.equal('');
      await completeExport(server, token);
      return token;
    };
    // Also changes of a restored dump, of a cluster with higher transaction ids.
    await server.psql([
      '-c',
      "TRUNCATE feed.exports; INSERT INTO feed.changes VALUES ('tickets', NULL, 'far', '9000000')",
    ]);
    const { token: slow } = await exportLines(server, inFolder('of a feed'));
    let { token: fast } = await exportLines(server, inFolder('of a feed'));
    await change('org_1');
    for (let i = 0; i < 4; i++) fast = await next(fast);
    expect(await noted()).to.deep.equal(['org_1']);
    let token = await next(slow);
    for (let i = 0; i < 2; i++) [fast, token] = [await next(fast), await next(token)];
    expect(await noted()).to.deep.equal(['']);
    expect(await server.valuesOf('SELECT count(*) FROM feed.exports')).to.deep.equal(['4']);
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
