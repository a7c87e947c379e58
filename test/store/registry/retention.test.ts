import { expect } from 'chai';
import { type RetainedStore, storesToRetain } from '../../../src/store/registry/store-registry.ts';
import { emptyImage, storeOf } from '../../support/empty-image.ts';

const MEGABYTE = 1024 * 1024;
const SECOND = 1000;
const FOR_EVER = { snapshotRetainSeconds: 1e6, snapshotRetainMaxSeconds: 1e6 };

interface Replaced {
  /** Seconds of the monotonic clock. */
  readonly usedAt: number;
  readonly replacedAt?: number;
  /** The store holds slightly more. */
  readonly megabytes?: number;
  readonly of?: string;
}

describe('Retention of replaced stores', () => {
  function retained({ usedAt, replacedAt = 0, megabytes = 1, of = 'north' }: Replaced): RetainedStore {
    const [digest, bytesHeld] = [`used at ${usedAt}`, megabytes * MEGABYTE];
    const store = storeOf({ ...emptyImage(of, digest), bytesHeld });
    store.walks.noteUse(usedAt * SECOND);
    return { store, file: 'a.sqlite', replacedAt: replacedAt * SECOND };
  }
  /** Returns the times of use of the stores that are kept. */
  const kept = (all: readonly Replaced[], now: number, retention = FOR_EVER, liveMegabytes = 0) =>
    [...storesToRetain(all.map(retained), retention, now * SECOND, liveMegabytes * MEGABYTE)].map(
      ({ store }) => store.walks.lastUse / SECOND,
    );

  it('counts from the last use, whenever a store was replaced', () => {
    const retention = { ...FOR_EVER, snapshotRetainSeconds: 100 };
    const all = [
      { usedAt: 50, replacedAt: 199 },
      { usedAt: 100, replacedAt: 150 },
      { usedAt: 101, replacedAt: 20 },
      { usedAt: 200, replacedAt: 10 },
    ];
    expect(kept(all, 200, retention)).to.have.members([101, 200]);
  });

  it('ends a time after the replacement, however often a store is used', () => {
    const retention = { snapshotRetainSeconds: 100, snapshotRetainMaxSeconds: 150 };
    const all = [
      { usedAt: 199, replacedAt: 50 },
      { usedAt: 200, replacedAt: 51 },
    ];
    expect(kept(all, 200, retention)).to.deep.equal([200]);
  });

  it('is never shorter than the time, to the millisecond', () => {
    const retention = { ...FOR_EVER, snapshotRetainSeconds: 1.5 };
    for (const usedAt of [7, 7.001, 7.5, 7.999]) {
      expect(kept([{ usedAt }], usedAt + 1.499, retention), `${usedAt}`).to.have.length(1);
      expect(kept([{ usedAt }], usedAt + 2.5, retention), `${usedAt}`).to.have.length(0);
    }
  });

  it('covers none when the time is 0', () => {
    expect(kept([{ usedAt: 200 }], 200, { ...FOR_EVER, snapshotRetainSeconds: 0 })).to.deep.equal([]);
    expect(kept([{ usedAt: 200 }], 200, { ...FOR_EVER, snapshotRetainMaxSeconds: 0 })).to.deep.equal([]);
  });

  it('covers the latest used, up to the memory of the live stores', () => {
    const all = [
      { usedAt: 1, replacedAt: 3, megabytes: 30 },
      { usedAt: 3, replacedAt: 1, megabytes: 50 },
      { usedAt: 2, replacedAt: 2, megabytes: 40 },
    ];
    expect(kept(all, 4, FOR_EVER, 100)).to.have.members([3, 2]);
    expect(kept(all, 4, FOR_EVER, 130)).to.have.members([3, 2, 1]);
  });

  it('covers the latest used, even if the live stores are smaller', () => {
    const all = [
      { usedAt: 3, megabytes: 200 },
      { usedAt: 2, megabytes: 1 },
      { usedAt: 1, megabytes: 200, of: 'south' },
    ];
    expect(kept(all, 4, FOR_EVER, 100)).to.have.members([3, 1]);
  });

  it('covers some megabytes in any case', () => {
    const all = [
      { usedAt: 1, megabytes: 20 },
      { usedAt: 2, megabytes: 20 },
      { usedAt: 3, megabytes: 30 },
    ];
    expect(kept(all, 4)).to.have.members([3, 2]);
  });

  it('covers the latest used of each organization before a second one of any', () => {
    const ofNorth = [11, 12, 13, 14].map((usedAt) => ({ usedAt, megabytes: 40 }));
    const ofSouth = [1, 2].map((usedAt) => ({ usedAt, megabytes: 40, of: 'south' }));
    expect(kept([...ofNorth, ...ofSouth], 20, FOR_EVER, 120)).to.have.members([14, 2, 13]);
  });
});
