import Database from 'better-sqlite3';
import { expect } from 'chai';
import { allRuns, manifestDigest, organizationDigests } from '../../support/digests.ts';
import { builtFrom } from '../../support/import-folder.ts';
import { inOrganization, minimalEvent, minimalSession } from '../../support/records.ts';
import { SoundSnapshot } from '../../support/sound-snapshot.ts';

describe('The digests of a snapshot are those of docs/snapshot-format.md', () => {
  const snapshot = new SoundSnapshot();

  function expectDigests(path: string): void {
    const database = new Database(path, { readonly: true });
    const rows = (sql: string) => database.prepare<[], (string | number)[]>(sql).raw().all();
    expect(rows('SELECT * FROM runs')).to.have.deep.members(allRuns(database)).and.not.empty;
    for (const [organizationId, ...digests] of rows(
      'SELECT organization_id, digest, history_digest FROM organizations',
    )) {
      expect(organizationDigests(database, String(organizationId))).to.deep.equal(digests);
      expect(digests.join(' ')).to.match(/^[\w-]{43} [\w-]{43}$/);
    }
    expect(rows('SELECT digest FROM snapshot')).to.deep.equal([[manifestDigest(database)]]);
    database.close();
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
