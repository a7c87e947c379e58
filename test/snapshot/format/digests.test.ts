import { copyFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import { expect } from 'chai';
import { reseal } from '../../support/digests.ts';
import { builtFrom } from '../../support/import-folder.ts';
import { inOrganization, minimalEvent, minimalSession } from '../../support/records.ts';
import { SoundSnapshot } from '../../support/sound-snapshot.ts';

describe('The digests of a snapshot are those of docs/snapshot-format.md', () => {
  const snapshot = new SoundSnapshot();

  /** Expects that the digests of a file do not change when they are computed as the document defines them. */
  function expectDigests(path: string): void {
    copyFileSync(path, `${path}.resealed`);
    reseal(`${path}.resealed`);
    expect(digestsIn(`${path}.resealed`)).to.deep.equal(digestsIn(path));
  }

  it('in a built snapshot', () => {
    expectDigests(snapshot.path);
  });

  it('in a snapshot with names that need escapes, and sessions before 1970', async () => {
    const own = inOrganization('z');
    await builtFrom(snapshot.file('odd'), {
      organizations: [{ organizationId: '"\\', name: '"\u0000\u0001\u2028é\ud800' }, { organizationId: 'z' }],
      events: [own(minimalEvent('\0"\n', { createdAt: '1960-01-01T00:00:00Z', currency: '' }))],
      sessions: [own(minimalSession('s', '\0"\n', { startAt: '0001-01-01T00:00:00.000001Z' }))],
    });
    expectDigests(snapshot.file('odd/snapshot.sqlite'));
  });
});

/** Returns the rows of all tables that have digests. */
function digestsIn(path: string): unknown[] {
  const database = new Database(path, { readonly: true });
  const rows = [
    'SELECT * FROM runs ORDER BY organization_id, collection, first_row',
    'SELECT * FROM organizations ORDER BY organization_id',
    'SELECT * FROM snapshot',
  ].map((sql) => database.prepare(sql).all());
  database.close();
  for (const ofTable of rows) expect(ofTable).not.to.have.length(0);
  return rows;
}
