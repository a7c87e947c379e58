import Database from 'better-sqlite3';
import { expect } from 'chai';
import { Deletions } from '../../../src/snapshot/builder/staging/deletions.ts';
import { SnapshotWriter } from '../../../src/snapshot/builder/merge/snapshot-writer.ts';
import { DELETIONS } from '../../../src/snapshot/format/layout.ts';
import { inspectSnapshot } from '../../../src/snapshot/load/read-snapshot.ts';
import { setDeletions } from '../../support/deletions.ts';
import { PRODUCED_AT } from '../../support/import-folder.ts';
import { folderForAll } from '../../support/temporary-folder.ts';

const SNAPSHOT_ID = '6f1c2a34-9b7e-4d05-8c61-2e5a7f90b3d8';
const DELETED = [
  { organization: 0, collection: 'tickets', id: 'tkt_1', deletedAt: '2026-11-01T00:00:00.000Z' },
  { organization: 0, collection: 'orders', id: 'ord "é"', deletedAt: '2026-11-02T00:00:00.000Z' },
  { organization: 0, collection: 'tickets', id: 'tkt_1b', deletedAt: '2026-11-02T00:00:00.000Z' },
  { organization: 1, collection: 'offers', id: 'off_1', deletedAt: '2026-10-01T00:00:00.000Z' },
];

type Deletion = (typeof DELETED)[number];

describe('The snapshot writer', () => {
  const file = folderForAll();

  async function written(name: string, deletions: readonly Deletion[]): Promise<string> {
    const path = file(name);
    const names = new Map([
      ['north', 'Nord'],
      ['south', 'Süd'],
    ]);
    const writer = new SnapshotWriter(path, names, PRODUCED_AT.toISOString());
    const staged = new Deletions();
    for (const { organization, collection, id, deletedAt } of deletions)
      staged.add(organization, collection, id, deletedAt);
    const counts = [...writer.write(DELETIONS, staged.records())];
    expect(counts.reduce((sum, count) => sum + count, 0)).to.equal(deletions.length);
    await writer.finish(SNAPSHOT_ID, [], () => undefined);
    return path;
  }

  it('writes deletions with the columns and digests of the format', async () => {
    const path = await written('written.sqlite', DELETED);
    const expected = await written('expected.sqlite', []);
    const deletionsOf = (i: number) => DELETED.filter(({ organization }) => organization === i);
    setDeletions(expected, { north: deletionsOf(0), south: deletionsOf(1) });
    for (const table of ['deletion_runs', 'runs', 'organizations', 'snapshot']) {
      const [ours, theirs] = [path, expected].map((one) => {
        using database = open(one);
        return database.rows(`SELECT * FROM ${table} ORDER BY 1`);
      });
      expect(ours, table).to.deep.equal(theirs).and.not.empty;
    }
  });

  it('leaves the content digest as it is', async () => {
    const [none, one] = await Promise.all(
      [[], DELETED.slice(3)].map(async (deletions) => {
        const { organizations } = inspectSnapshot(await written(`${deletions.length}.sqlite`, deletions));
        return organizations.map(({ contentDigest, historyDigest }) => ({ contentDigest, historyDigest }));
      }),
    );
    expect(one[0]).to.deep.equal(none[0]);
    expect(one[1].contentDigest).to.equal(none[1].contentDigest);
    expect(one[1].historyDigest).to.not.equal(none[1].historyDigest);
  });

  function open(path: string) {
    const database = new Database(path, { readonly: true });
    return {
      rows: (sql: string) => database.prepare<[], unknown[]>(sql).raw().all(),
      [Symbol.dispose]: () => database.close(),
    };
  }
});
