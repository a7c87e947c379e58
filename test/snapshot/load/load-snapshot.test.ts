import { writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { RefusedSnapshot } from '../../../src/snapshot/format/refused-snapshot.ts';
import { loadSnapshot } from '../../../src/snapshot/load/load-snapshot.ts';
import type { SnapshotImage } from '../../../src/store/organization-image.ts';
import { folderForAll } from '../../support/temporary-folder.ts';
import { inOrganization, minimalEvent, minimalSession } from '../../support/records.ts';
import { build, writeImport } from '../../support/import-folder.ts';
import { SoundSnapshot } from '../format/sound-snapshot.ts';

describe('the loader', () => {
  const inFolder = folderForAll();
  const sound = new SoundSnapshot();
  const refusal = (path: string) =>
    loadSnapshot(path).then(
      () => expect.fail('it was loaded'),
      (error: unknown) => error,
    );

  /** What an image holds, in one buffer or in many. */
  const contentOf = ({ organizations, ...snapshot }: SnapshotImage) => ({
    ...snapshot,
    organizations: organizations.map((organization) => ({ ...organization, bytesHeld: 0 })),
  });

  it('hands on why a file is refused', async () => {
    const path = inFolder('text.sqlite');
    writeFileSync(path, 'not a database'.repeat(100));
    expect(await refusal(path))
      .to.be.instanceOf(RefusedSnapshot)
      .with.property('message')
      .that.matches(/not an SQLite database/);
  });

  it('reads thousands of organizations', async () => {
    const organizations = Array.from({ length: 2000 }, (_, i) => ({
      organizationId: `org-${String(i).padStart(4, '0')}`,
      name: '',
    }));
    const ids = organizations.map(({ organizationId }) => organizationId);
    const folder = inFolder('many');
    writeImport(folder, {
      organizations,
      events: ids.map((id) => inOrganization(id)(minimalEvent('evt'))),
      sessions: ids.map((id) => inOrganization(id)(minimalSession('ses', 'evt'))),
    });
    const path = inFolder('many.sqlite');
    await build(folder, path);
    const loaded = await loadSnapshot(path);
    expect(loaded.organizations.map(({ organizationId }) => organizationId)).to.deep.equal(ids);
    for (const organization of loaded.organizations) {
      expect(organization.bytesHeld).to.equal(organization.tickets.records.bytes.buffer.byteLength);
    }
  });

  it('tells how far it is, run by run', async () => {
    const told: string[] = [];
    const loaded = await loadSnapshot(sound.path, {
      onProgress: (organizationId, collection, records) => {
        if (organizationId === 'north') told.push(`${collection} ${records}`);
      },
    });
    expect(contentOf(loaded)).to.deep.equal(contentOf(sound.image));
    expect(told).to.deep.equal([
      'tickets 60',
      'orders 9',
      'events 4',
      'sessions 10',
      ...told.filter((text) => text.startsWith('offers')).slice(0, 1),
      'offers 5',
    ]);
  });

  it('reads no content of a snapshot that is not wanted', async () => {
    const unwanted = new Error('not wanted');
    const loading = loadSnapshot(sound.path, {
      admit: () => {
        throw unwanted;
      },
      onProgress: () => expect.fail('it is read'),
    });
    expect(await loading.catch((error: unknown) => error)).to.equal(unwanted);
  });

  it('makes a failure of its thread a refusal', async () => {
    // A path that no system takes: what is thrown for it is no judgement on a file.
    expect(await refusal('\0'))
      .to.be.instanceOf(RefusedSnapshot)
      .with.property('message')
      .that.matches(/the loader failed/);
  });
});
