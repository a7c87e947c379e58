import { expect } from 'chai';
import { EVENTS, OFFERS, ORDERS, SESSIONS, TICKETS } from '../../../src/snapshot/format/layout.ts';
import { loadSnapshot } from '../../../src/snapshot/load/load-snapshot.ts';
import { inspectSnapshot, type OnProgress } from '../../../src/snapshot/load/read-snapshot.ts';
import { type SnapshotImage, byList } from '../../../src/store/organization-image.ts';
import { folderForAll } from '../../support/temporary-folder.ts';
import { recordsIn, times } from '../../support/records.ts';
import { buildFile } from '../../support/import-folder.ts';
import { refusalOf } from '../../support/refusal.ts';
import { SoundSnapshot } from '../../support/sound-snapshot.ts';

describe('The loader', () => {
  const inFolder = folderForAll();
  const sound = new SoundSnapshot();

  /** Returns the content of an image, whether in one buffer or in many. */
  const contentOf = ({ organizations, ...snapshot }: SnapshotImage) => ({
    ...snapshot,
    organizations: organizations.map((image) => ({
      ...image,
      lists: byList((name) => ({ ...image.lists[name], bytesHeld: 0 })),
      history: { ...image.history, digest: '', bytesHeld: 0 },
    })),
  });

  it('loads thousands of organizations', async () => {
    const ids = times(2000, (i) => `org-${String(i).padStart(4, '0')}`);
    const organizations = ids.map((organizationId) => ({ organizationId, name: '' }));
    const events = ids.map((id) => recordsIn(id).event('evt'));
    const sessions = ids.map((id) => recordsIn(id).session('ses', 'evt'));
    const path = inFolder('many.sqlite');
    await buildFile({ organizations, events, sessions }, path);
    const loaded = await loadSnapshot(path);
    expect(loaded.organizations.map(({ organizationId }) => organizationId)).to.deep.equal(ids);
    for (const { lists } of loaded.organizations) {
      const { bytesHeld, collections, schedule } = lists.events;
      expect(collections['events'].records.runs[0].bytes.buffer).to.equal(schedule.starts.buffer);
      expect(bytesHeld).to.equal(schedule.starts.buffer.byteLength);
    }
  });

  it('reports its progress after each run', async () => {
    const reported: Parameters<OnProgress>[] = [];
    const loaded = await loadSnapshot(sound.path, { onProgress: (...progress) => reported.push(progress) });
    expect(contentOf(loaded)).to.deep.equal(contentOf(sound.image));
    const manifest = inspectSnapshot(sound.path);
    const order = [TICKETS, ORDERS, EVENTS, SESSIONS, OFFERS];
    let records = 0;
    const runs = manifest.organizations.flatMap((organization) =>
      order.flatMap(({ name }) =>
        organization.runs[name].map(({ recordCount }) => [(records += recordCount), name] as const),
      ),
    );
    expect(reported).to.deep.equal(runs.map(([read, name]) => [read, records, name]));
  });

  it('reads no content of a snapshot that is not admitted', async () => {
    const refused = new Error('not admitted');
    const loading = loadSnapshot(sound.path, {
      admit: () => {
        throw refused;
      },
      onProgress: () => expect.fail('content was read'),
    });
    expect(await refusalOf(loading, Error)).to.equal(refused);
  });
});
