import { writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { RefusedSnapshot } from '../../src/snapshot/refused-snapshot.ts';
import { loadSnapshot } from '../../src/snapshot/load-snapshot.ts';
import type { SnapshotImage } from '../../src/store/organization-image.ts';
import { inOrganization, minimalEvent, minimalSession } from './full-records.ts';
import { build, writeImport } from './import-folder.ts';
import { SoundSnapshot } from './sound-snapshot.ts';
import { folderForAll } from '../temporary-folder.ts';

describe('the loader', () => {
  const inFolder = folderForAll();
  const sound = new SoundSnapshot();
  const noting = (tables: string[]) => (organizationId: string, table: string) =>
    tables.push(`${organizationId} ${table}`);

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

  it('gives by two threads what it gives by one', async () => {
    const path = sound.copy();
    const alone: string[] = [];
    const together: string[] = [];
    for (const [leastShared, told] of [
      [Infinity, alone],
      [0, together],
    ] as const) {
      const loaded = await loadSnapshot(path, { leastShared, onProgress: noting(told) });
      expect(contentOf(loaded)).to.deep.equal(contentOf(sound.image));
    }
    expect(together).to.have.members(alone);
  });

  it('refuses by two threads what it refuses by one, whichever reads it', async () => {
    for (const [table, change] of [
      ['tickets', "qr_code = qr_code || 'x'"],
      ['tickets', "record = substr(record, 1, length(record) - 3) || 'xx}'"],
      ['sessions', "start_at = start_at || 'x'"],
      ['orders', "email = email || 'x'"],
      // What is left does not fit together either: that is no reason of its own.
      ['orders', `record = '{"orderId":"' || order_id || '"}'`],
    ]) {
      const path = sound.copyWith(`UPDATE ${table} SET ${change} WHERE row = 0`);
      const refused = await loadSnapshot(path, { leastShared: 0 }).catch((error: unknown) => error);
      expect(refused, table).to.be.instanceOf(RefusedSnapshot).with.property('reason', 'damaged');
    }
  });

  it('ends the thread that waits for records when the other refuses them', async () => {
    const path = sound.copyWith("UPDATE tickets SET record = 'x' || record WHERE row = 1");
    const refused = await loadSnapshot(path, { leastShared: 0 }).catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(RefusedSnapshot).with.property('reason', 'inconsistent');
  });

  it('makes a failure of its thread a refusal', async () => {
    // A path that no system takes: what is thrown for it is no judgement on a file.
    expect(await refusal('\0'))
      .to.be.instanceOf(RefusedSnapshot)
      .with.property('message')
      .that.matches(/the loader failed/);
  });
});
