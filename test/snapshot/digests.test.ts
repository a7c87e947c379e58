import Database from 'better-sqlite3';
import { expect } from 'chai';
import { manifestDigest, organizationDigest } from './digests.ts';
import { builtFrom } from './import-folder.ts';
import { SoundSnapshot } from './sound-snapshot.ts';

describe('the digests of a snapshot are those of docs/snapshot-format.md', () => {
  const snapshot = new SoundSnapshot();

  it('in a snapshot of the builder', () => {
    const database = new Database(snapshot.path, { readonly: true });
    for (const { organizationId, digest } of snapshot.image.organizations) {
      expect(organizationDigest(database, organizationId))
        .to.equal(digest)
        .and.match(/^[\w-]{43}$/);
    }
    const stored = database.prepare<[], string>('SELECT digest FROM snapshot').pluck().get();
    expect(manifestDigest(database)).to.equal(stored);
    database.close();
  });

  it('in one that needs quotes, and has nothing but sessions before 1970', async () => {
    const odd = await builtFrom(snapshot.file('odd'), {
      organizations: [{ organizationId: '"\\', name: '"\u0000\u0001\u2028é\ud800' }, { organizationId: 'z' }],
      events: [{ organizationId: 'z', id: '\0"\n', createdAt: '1960-01-01T00:00:00Z', currency: '' }],
      sessions: [{ organizationId: 'z', eventId: '\0"\n', id: 's', startAt: '0001-01-01T00:00:00.000001Z' }],
    });
    const database = new Database(snapshot.file('odd/snapshot.sqlite'), { readonly: true });
    for (const { organizationId, digest } of odd.image.organizations) {
      expect(organizationDigest(database, organizationId)).to.equal(digest);
    }
    const stored = database.prepare<[], string>('SELECT digest FROM snapshot').pluck().get();
    expect(manifestDigest(database)).to.equal(stored);
    database.close();
  });
});
