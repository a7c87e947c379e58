import { expect } from 'chai';
import { admit } from '../../../src/snapshot/admission/admit.ts';
import { type MemoryLimit, memoryNeed, missingMemory } from '../../../src/snapshot/admission/memory.ts';
import type { Manifest } from '../../../src/snapshot/format/manifest.ts';
import { RefusedSnapshot } from '../../../src/snapshot/format/refused-snapshot.ts';
import { StoreRegistry } from '../../../src/store/registry/store-registry.ts';
import { declaration, emptySnapshot } from '../../support/empty-image.ts';

function manifest(day: number, ...organizationIds: string[]): Manifest {
  return {
    snapshotId: `day ${day}`,
    producedAt: `2026-11-0${day}T00:00:00Z`,
    hasCanonicalRuns: true,
    permits: [],
    ancestors: [],
    organizations: organizationIds.map((organizationId) => declaration(organizationId)),
  };
}

describe('The admission of a snapshot', () => {
  let stores: StoreRegistry;
  let limit: MemoryLimit;

  /** Makes empty organizations live, in the form of `emptySnapshot`. */
  function swap(file: string, { snapshotId, producedAt }: Manifest, organizations: readonly string[]): void {
    stores.swap(file, { ...emptySnapshot(snapshotId, ...organizations), producedAt });
  }

  /** Admits a snapshot and makes it live. Returns the refusal, or undefined. */
  function goLive(file: string, next: Manifest): string | undefined {
    try {
      admit(stores, file, next, limit, 1);
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
    expect(goLive('a.sqlite', manifest(3, 'north', 'south'))).to.equal(undefined);
  });

  it('refuses an organization that another file holds, and names both', () => {
    expect(goLive('b.sqlite', manifest(4, 'west', 'south')))
      .to.match(/^conflict: /)
      .and.include('"south"')
      .and.include('a.sqlite');
  });

  it('compares a file with its own previous snapshot alone', () => {
    expect(goLive('b.sqlite', manifest(1, 'west'))).to.equal(undefined);
    expect(goLive('a.sqlite', manifest(2, 'north', 'south'))).to.match(/^older/);
    expect(goLive('a.sqlite', manifest(4, 'north'))).to.match(/^organization-gone: .*"south"/);
    expect(goLive('b.sqlite', manifest(2, 'west'))).to.equal(undefined);
  });

  it('compares a file that was removed for a while with its previous snapshot', () => {
    stores.markFileRemoved('a.sqlite');
    expect(goLive('a.sqlite', manifest(2, 'north', 'south'))).to.match(/^older/);
    expect(goLive('a.sqlite', manifest(4, 'north'))).to.match(/^organization-gone/);
  });

  it('compares a file that takes over an organization with the live snapshot of it', () => {
    stores.markFileRemoved('a.sqlite');
    expect(goLive('b.sqlite', manifest(2, 'south', 'west'))).to.match(/^older: .*"south"/);
    expect(goLive('b.sqlite', manifest(4, 'south', 'west'))).to.equal(undefined);
  });

  it('releases retained stores, the longest unused first, as far as memory is short, before it refuses', () => {
    const swapAfterWalk = (day: number) => {
      const store = stores.view.get('north');
      if (store !== undefined) store.walks.noteUse((10 - day) * 1000);
      swap('a.sqlite', manifest(day), [`north=day ${day}`, 'south']);
    };
    for (const day of [4, 5, 6]) swapAfterWalk(day);
    const retained = () => stores.retained.map(({ store }) => store.contentDigest);
    expect(retained()).to.deep.equal(['day 5', 'day 4', 'digest']);

    const next = manifest(7, 'north', 'south');
    const bytesHeld = stores.liveBytes + stores.retainedBytes;
    const missing = () =>
      missingMemory(memoryNeed(next.organizations), { bytesHeld, stores: 5, threads: 1 }, limit);
    admit(stores, 'a.sqlite', next, limit, 1);
    expect(retained()).to.deep.equal(['day 5', 'day 4', 'digest']);

    // One byte too few for all retained stores: one is released.
    limit = { bytes: 0, source: 'MEMORY_LIMIT_MB' };
    limit = { bytes: missing() - 1, source: 'MEMORY_LIMIT_MB' };
    admit(stores, 'a.sqlite', next, limit, 1);
    expect(retained()).to.deep.equal(['day 4', 'digest']);

    limit = { bytes: 0, source: 'MEMORY_LIMIT_MB' };
    expect(goLive('a.sqlite', next))
      .to.match(/^memory: /)
      .and.include('MEMORY_LIMIT_MB');
    expect(retained()).to.deep.equal([]);
    expect(stores.view.get('north')?.contentDigest).to.equal('day 6');
  });

  it('releases the stores of 5000 organizations in one step', () => {
    const ids = Array.from({ length: 5000 }, (_, i) => `org${i}`);
    for (const day of [4, 5]) {
      const organizations = ids.map((id) => `${id}=day ${day}`);
      swap('b.sqlite', manifest(day), organizations);
    }
    expect(stores.retained).to.have.length(5000);
    limit = { bytes: 0, source: 'MEMORY_LIMIT_MB' };
    // Each call makes the views of all organizations anew. One call for each store takes 20 s.
    const released: number[] = [];
    const retainOnly = stores.retainOnly.bind(stores);
    stores.retainOnly = (kept) => {
      released.push(stores.retained.length - kept.size);
      retainOnly(kept);
    };
    expect(goLive('b.sqlite', manifest(6, ...ids))).to.match(/^memory: /);
    expect(released).to.deep.equal([5000]);
    expect(stores.retained).to.deep.equal([]);
  });
});
