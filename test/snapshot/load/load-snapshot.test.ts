import { expect } from 'chai';
import { EVENTS, OFFERS, ORDERS, SESSIONS, TICKETS } from '../../../src/snapshot/format/layout.ts';
import { loadSnapshot } from '../../../src/snapshot/load/load-snapshot.ts';
import { inspectSnapshot, type OnProgress } from '../../../src/snapshot/load/read-snapshot.ts';
import { byList, sectionsOf, type SnapshotImage } from '../../../src/store/organization-image.ts';
import { contentOf } from '../../../src/store/registry/store-view.ts';
import { folderForAll } from '../../support/temporary-folder.ts';
import { recordsIn, times } from '../../support/records.ts';
import { buildFile, PRODUCED_AT } from '../../support/import-folder.ts';
import { refusalOf } from '../../support/refusal.ts';
import { SoundSnapshot } from '../../support/sound-snapshot.ts';

describe('The loader', () => {
  const inFolder = folderForAll();
  const sound = new SoundSnapshot();

  /** Returns the content of an image, whether in one buffer or in many. */
  const readable = ({ organizations, ...snapshot }: SnapshotImage) => ({
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

  it('keeps the lists in memory that a snapshot does not change, and reads their changes', async () => {
    const north = recordsIn('north');
    const [first, second] = [inFolder('first.sqlite'), inFolder('second.sqlite')];
    const long = { offerName: 'x'.repeat(4000) };
    const files = {
      organizations: [{ organizationId: 'north' }],
      tickets: times(300, (i) => north.ticket(`tkt_${i}`, long)),
      orders: times(300, (i) => north.order(`ord_${i}`, { buyerComments: long.offerName })),
    };
    await buildFile(files, first);
    const producedAt = new Date(PRODUCED_AT.getTime() + 1000);
    await buildFile({ orders: [north.order('ord_new')] }, second, { base: first, producedAt });
    const live = await loadSnapshot(first);
    const known = live.organizations.flatMap(({ organizationId, ...one }) =>
      sectionsOf(one).map((image) => ({ organizationId, image })),
    );
    const loaded = await loadSnapshot(second, { admit: () => Promise.resolve(contentOf(known)) });
    expect(readable(loaded)).to.deep.equal(readable(await loadSnapshot(second)));
    const kept = byList((name) => loaded.organizations[0].lists[name] === live.organizations[0].lists[name]);
    expect(kept).to.deep.equal({ events: false, tickets: true, orders: false, offers: false });
  });

  it('reports its progress after each run', async () => {
    const reported: Parameters<OnProgress>[] = [];
    const loaded = await loadSnapshot(sound.path, { onProgress: (...progress) => reported.push(progress) });
    expect(readable(loaded)).to.deep.equal(readable(sound.image));
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
