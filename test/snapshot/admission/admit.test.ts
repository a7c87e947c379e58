import { expect } from 'chai';
import { Admission } from '../../../src/snapshot/admission/admit.ts';
import { bytesInUse, type MemoryLimit, memoryNeed } from '../../../src/snapshot/admission/memory.ts';
import { type Manifest, NO_RECORDS } from '../../../src/snapshot/format/manifest.ts';
import { RefusedSnapshot } from '../../../src/snapshot/format/refused-snapshot.ts';
import { addStreams, type ListImage, noteUse } from '../../../src/store/organization-image.ts';
import { MEGABYTE, sharedBytes } from '../../../src/store/memory/shared-arrays.ts';
import type { RecordsImage, Slab } from '../../../src/store/records.ts';
import { StoreRegistry } from '../../../src/store/registry/store-registry.ts';
import { declaration, emptyList, emptySnapshot, manifest, WALKED } from '../../support/empty-image.ts';

function manifestOf(day: number, ...organizationIds: string[]): Manifest {
  const organizations = organizationIds.map((organizationId) => declaration(organizationId));
  return manifest(`day ${day}`, { producedAt: `2026-11-0${day}T00:00:00Z`, organizations });
}

const SECTION_BYTES = 16 * 1024;
const NEED = memoryNeed([declaration('north'), declaration('south')]).peak;

/** Returns records in slabs that images of other snapshots may share. */
function sharedRecords(slabs: readonly Slab[]): RecordsImage {
  return { slabs, places: new Uint32Array(0), isShared: true };
}

describe('The admission of a snapshot', () => {
  let stores: StoreRegistry;
  let limit: MemoryLimit;
  let admission: Admission;

  /** Makes empty organizations live, in the form of `emptySnapshot`. */
  function swap(file: string, { snapshotId, producedAt }: Manifest, organizations: readonly string[]): void {
    stores.swap(file, { ...emptySnapshot(snapshotId, ...organizations), producedAt });
  }

  /** Admits a snapshot and makes it live. Returns the refusal, or undefined. */
  function goLive(file: string, next: Manifest): string | undefined {
    try {
      admission.admit(file, next);
    } catch (error) {
      if (error instanceof RefusedSnapshot) return `${error.reason}: ${error.message}`;
      throw error;
    }
    const ids = next.organizations.map(({ organizationId }) => organizationId);
    swap(file, next, ids);
    return undefined;
  }

  beforeEach(() => {
    stores = new StoreRegistry();
    limit = { bytes: Infinity, source: 'machine' };
    admission = new Admission(stores, limit, 1);
    expect(goLive('a.sqlite', manifestOf(3, 'north', 'south'))).to.equal(undefined);
  });

  it('refuses an organization that another file holds, and names both', () => {
    expect(goLive('b.sqlite', manifestOf(4, 'west', 'south')))
      .to.match(/^conflict: /)
      .and.include('"south"')
      .and.include('a.sqlite');
  });

  it('compares a file with its own previous snapshot alone', () => {
    expect(goLive('b.sqlite', manifestOf(1, 'west'))).to.equal(undefined);
    expect(goLive('a.sqlite', manifestOf(2, 'north', 'south'))).to.match(/^older/);
    expect(goLive('a.sqlite', manifestOf(4, 'north'))).to.match(/^organization-gone: .*"south"/);
    expect(goLive('b.sqlite', manifestOf(2, 'west'))).to.equal(undefined);
  });

  it('compares a file that was removed for a while with its previous snapshot', () => {
    stores.markFileRemoved('a.sqlite');
    expect(goLive('a.sqlite', manifestOf(2, 'north', 'south'))).to.match(/^older/);
    expect(goLive('a.sqlite', manifestOf(4, 'north'))).to.match(/^organization-gone/);
  });

  it('compares a file that takes over an organization with the live snapshot of it', () => {
    stores.markFileRemoved('a.sqlite');
    expect(goLive('b.sqlite', manifestOf(2, 'south', 'west'))).to.match(/^older: .*"south"/);
    expect(goLive('b.sqlite', manifestOf(4, 'south', 'west'))).to.equal(undefined);
  });

  describe('releases retained lists', () => {
    /** Replaces the tickets of an organization after a walk over them. The images hold no memory but their overhead. */
    const walkAndReplace = (day: number, organizationId: string) => {
      const store = stores.view.get(organizationId);
      if (store !== undefined) noteUse(store.lists.tickets, day * 1000);
      const others = ['north', 'south'].map((id) => {
        const digest = stores.view.get(id)?.lists.tickets.digest;
        return id === organizationId ? `${id}=day ${day}` : `${id}=${digest}`;
      });
      swap('a.sqlite', manifestOf(day), others);
      stores.releaseExpired(WALKED);
    };
    const retained = () =>
      stores.retained.map(({ organizationId, image }) => `${organizationId} ${image.digest}`);
    const SPARE_BYTES = 1000;
    /** Replaces the tickets of north alone. */
    const swapTickets = (snapshotId: string, tickets: ListImage) => {
      const { organizations, ...snapshot } = emptySnapshot(snapshotId, 'north=day 7', 'south=day 5');
      const [north, south] = organizations;
      const changed = { ...north, lists: { ...north.lists, tickets } };
      stores.swap('a.sqlite', { ...snapshot, organizations: [changed, south] });
      stores.releaseExpired(WALKED);
    };

    /** Leaves room for some retained lists besides the load. */
    const leaveRoomFor = (sections: number) => {
      const live = bytesInUse(stores.liveBytes, 2, 1);
      limit = { bytes: live + NEED + sections * SECTION_BYTES + SPARE_BYTES, source: 'MEMORY_LIMIT_MB' };
      admission = new Admission(stores, limit, 1);
    };

    beforeEach(() => {
      for (const [day, id] of [
        [4, 'north'],
        [5, 'south'],
        [6, 'north'],
        [7, 'north'],
      ] as const)
        walkAndReplace(day, id);
      expect(retained()).to.have.members(['north day 6', 'north day 4', 'south digest', 'north digest']);
    });

    for (const [room, kept] of [
      [4, ['north day 6', 'north day 4', 'south digest', 'north digest']],
      [3, ['north day 6', 'north day 4', 'south digest']],
      [2, ['north day 6', 'south digest']],
      [1, ['north day 6']],
      [0, []],
    ] as const) {
      it(`to admit a snapshot: ${kept.length} of 4 where ${room} have room`, () => {
        leaveRoomFor(room);
        const { view } = stores;
        admission.admit('a.sqlite', manifestOf(8, 'north', 'south'));
        expect(retained()).to.have.members(kept);
        // A release replaces the view of all organizations.
        expect(stores.view === view).to.equal(room === 4);
      });

      it(`for the next load of the largest live file: ${kept.length} of 4 where ${room} have room`, () => {
        leaveRoomFor(4);
        admission.admit('a.sqlite', manifestOf(8, 'north', 'south'));
        // The live data grows.
        const tickets = { ...emptyList('tickets', 'large'), bytesHeld: (4 - room) * SECTION_BYTES };
        swapTickets('day 8', tickets);
        admission.makeRoom();
        expect(retained()).to.have.members(kept);
        expect(admission.retainableBytes).to.equal(SPARE_BYTES);
      });
    }

    it('with one that does not fit in any case, and no others for it', () => {
      const tickets = { ...emptyList('tickets', 'large'), bytesHeld: 10 * SECTION_BYTES };
      noteUse(tickets, 9000);
      swapTickets('large', tickets);
      const before = retained();
      swap('a.sqlite', manifestOf(8), ['north=day 7', 'south=day 5']);
      stores.releaseExpired(WALKED);
      expect(retained()).to.have.members([...before, 'north large']);
      leaveRoomFor(4);
      admission.admit('a.sqlite', manifestOf(9, 'north', 'south'));
      expect(retained()).to.have.length(4);
      expect(retained()).to.not.include('north large');
    });

    it('after those that a stream reads', () => {
      const oldest = stores.retained.find(
        ({ image }) => image.digest === 'digest' && image.name === 'tickets',
      );
      if (oldest === undefined) throw new Error('the first content is not retained');
      addStreams(oldest.image, 1);
      leaveRoomFor(1);
      admission.admit('a.sqlite', manifestOf(8, 'north', 'south'));
      expect(stores.retained).to.deep.equal([oldest]);
    });

    it('by the need of snapshots that went live, and of no refused one', () => {
      admission = new Admission(stores, { bytes: 1e9, source: 'MEMORY_LIMIT_MB' }, 1);
      const free = admission.retainableBytes;
      admission.admit('a.sqlite', manifestOf(8, 'north', 'south'));
      swap('a.sqlite', manifestOf(8), ['north=day 7', 'south=day 5']);
      stores.releaseExpired(WALKED);
      expect(admission.retainableBytes).to.equal(free - NEED);
      const before = admission.retainableBytes;
      admission.admit('a.sqlite', manifestOf(9, 'north', 'south', 'west'));
      expect(admission.retainableBytes).to.equal(before);
    });

    it('but none for a snapshot that does not fit without them either', () => {
      leaveRoomFor(-1);
      expect(goLive('a.sqlite', manifestOf(8, 'north', 'south')))
        .to.match(/^memory: /)
        .and.include('MEMORY_LIMIT_MB');
      expect(retained()).to.have.length(4);
      expect(stores.view.get('north')?.lists.tickets.digest).to.equal('day 7');
    });
  });

  describe('counts the memory of slabs once', () => {
    const [live, earlier] = [1, 2].map((number): Slab => ({ number, bytes: sharedBytes(MEGABYTE) }));

    /** Replaces the tickets of north by those of some slabs, which a walk uses. */
    const swapSlabs = (day: number, ...slabs: readonly Slab[]) => {
      const { organizations, ...snapshot } = emptySnapshot(`day ${day}`, 'north', 'south');
      const [north, south] = organizations;
      const list = emptyList('tickets', `day ${day}`);
      const { tickets: empty } = list.collections;
      const collections = { tickets: { ...empty, records: sharedRecords(slabs) } };
      const tickets = { ...list, collections };
      noteUse(tickets, day * 1000);
      const changed = { ...north, lists: { ...north.lists, tickets } };
      const { producedAt } = manifestOf(day);
      stores.swap('a.sqlite', { ...snapshot, producedAt, organizations: [changed, south] });
      stores.releaseExpired(WALKED);
    };

    /** Returns the digests of the lists whose records a load may share, in their order. */
    const known = (bytes: number) => {
      admission = new Admission(stores, { bytes, source: 'machine' }, 1);
      const admitted = admission.admit('a.sqlite', manifestOf(7, 'north', 'south'), false, 0);
      return admitted.known.map(({ image }) => image.digest);
    };

    for (const [room, lists] of [
      [MEGABYTE + 2 * SECTION_BYTES, ['day 6', 'day 5', 'day 4']],
      [MEGABYTE + 2 * SECTION_BYTES - 1, ['day 6', 'day 5']],
      [MEGABYTE, ['day 6']],
    ] as const) {
      it(`so that ${lists.length - 1} of 2 replaced lists stay in ${room} bytes, and a load shares their records`, () => {
        swapSlabs(4, live, earlier);
        swapSlabs(5, earlier, live);
        swapSlabs(6, live);
        expect(known(bytesInUse(stores.liveBytes, 2, 1) + NEED + room)).to.deep.equal(lists);
        expect(stores.retained).to.have.length(lists.length - 1);
      });
    }
  });

  describe('where all records do not fit besides the live ones and the retained ones', () => {
    const records = 10 * MEGABYTE;
    const next = () => {
      const tickets = { ...NO_RECORDS, recordCount: 1, recordBytes: records };
      const organizations = [declaration('north', { tickets }), declaration('south')];
      return { ...manifestOf(4), organizations };
    };

    beforeEach(() => {
      const tickets = emptyList('tickets', 'live');
      const { tickets: empty } = tickets.collections;
      const slabs = [{ number: 1, bytes: sharedBytes(MEGABYTE) }];
      const { organizations } = emptySnapshot('live', 'north', 'south');
      const collections = { tickets: { ...empty, records: sharedRecords(slabs) } };
      const lists = { ...organizations[0].lists, tickets: { ...tickets, collections } };
      stores.swap('a.sqlite', {
        ...manifestOf(3),
        organizations: [{ ...organizations[0], lists }, organizations[1]],
      });
      stores.retainOnly([]);
    });

    const admitIn = (spare: number, bytesToCopy?: number) => {
      const { peak } = memoryNeed(next().organizations, new Set(), bytesToCopy);
      const bytes = bytesInUse(stores.liveBytes, 2, 1) + peak + spare;
      admission = new Admission(stores, { bytes, source: 'machine' }, 1);
      return (measured?: number) => admission.admit('a.sqlite', next(), false, measured);
    };

    it('asks for the bytes to copy, and admits a snapshot by them', () => {
      expect(admitIn(0)().isAdmitted).to.equal(true);
      const admit = admitIn(0, 1000);
      const asked = admit();
      expect(asked.isAdmitted).to.equal(false);
      expect(asked.known.map(({ image }) => image.digest)).to.deep.equal(['live']);
      expect(admit(1000).isAdmitted).to.equal(true);
      expect(() => admit(1001))
        .to.throw(RefusedSnapshot)
        .with.property('reason', 'memory');
    });

    it('refuses a snapshot without asking if it does not fit in any case', () => {
      const admit = admitIn(-1, 0);
      expect(() => admit())
        .to.throw(RefusedSnapshot)
        .with.property('reason', 'memory');
    });
  });
});
