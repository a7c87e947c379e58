import { expect } from 'chai';
import fc from 'fast-check';
import { sharedBytes } from '../../../src/store/memory/shared-arrays.ts';
import { imageOf } from '../../../src/store/registry/store-view.ts';
import { StoreRegistry } from '../../../src/store/registry/store-registry.ts';
import {
  emptyHistory,
  emptyImage,
  emptyList,
  emptySnapshot,
  WALKED,
  listIn,
} from '../../support/empty-image.ts';
import {
  byList,
  type ListImage,
  memoryOf,
  noteUse,
  sectionsOf,
} from '../../../src/store/organization-image.ts';
import { byDepth } from '../../support/depth.ts';
import { FIXED } from '../../support/random.ts';

describe('A store registry', () => {
  let registry: StoreRegistry;
  beforeEach(() => {
    registry = new StoreRegistry();
  });

  /** Makes a snapshot live, in the form of `emptySnapshot`. */
  const swap = (file: string, snapshotId: string, ...organizations: string[]) => {
    registry.swap(`${file}.sqlite`, emptySnapshot(snapshotId, ...organizations));
  };
  /** Returns the live snapshot of each organization. */
  const live = (...organizationIds: string[]) =>
    organizationIds.map((id) => registry.view.get(id)?.snapshotId);
  const find = (organizationId: string, digest: string) =>
    listIn(registry.view, organizationId, 'tickets', digest);

  it('replaces the previous snapshot of the same file', () => {
    swap('a', 'a1', 'north', 'south');
    swap('b', 'b1', 'east');
    const held = registry.view.get('north');
    swap('a', 'a2', 'north', 'west');
    expect(live('north', 'south', 'east', 'west')).to.deep.equal(['a2', undefined, 'b1', 'a2']);
    expect(held?.snapshotId, 'in the hands of a reader').to.equal('a1');
  });

  it('takes an organization over from another file, whose others stay', () => {
    swap('a', 'a1', 'north', 'south');
    swap('b', 'b1', 'south');
    expect(live('north', 'south')).to.deep.equal(['a1', 'b1']);
    swap('a', 'a2', 'north');
    expect(live('north', 'south')).to.deep.equal(['a2', 'b1']);
  });

  it('keeps the memory of each list whose content is unchanged, and reports the new snapshot', () => {
    const [first, second] = ['N1', 'N2'].map((digest, i) => emptySnapshot(`a${i + 1}`, `north=${digest}`));
    const [{ lists: before }] = first.organizations;
    const [image] = second.organizations;
    for (const { name: changed } of Object.values(before)) {
      registry.swap('a.sqlite', first);
      const lists = { ...emptyImage('north', 'N1').lists, [changed]: image.lists[changed] };
      registry.swap('a.sqlite', { ...second, organizations: [{ ...image, lists }] });
      for (const list of Object.values(before)) {
        const found = listIn(registry.view, 'north', list.name, 'N1');
        expect(found?.image, list.name).to.equal(list);
        expect(found?.snapshotId, list.name).to.equal(list.name === changed ? 'a1' : 'a2');
      }
    }
  });

  it('has a history for each snapshot, also where the content is unchanged', () => {
    const [first, second] = ['a1', 'a2'].map((id) => emptySnapshot(id, 'north=N1'));
    const [{ history }] = first.organizations;
    registry.swap('a.sqlite', first);
    registry.swap('a.sqlite', second);
    expect(registry.view.get('north')?.history).to.equal(second.organizations[0].history);
    expect(imageOf(registry.view.get('north'), history), 'for streams').to.equal(history);
    registry.releaseExpired(WALKED);
    expect(imageOf(registry.view.get('north'), history)).to.equal(undefined);
  });

  it('counts the memory of each section once', () => {
    for (const [i, number] of [1, 10, 10].entries()) {
      const { organizations, ...snapshot } = emptySnapshot(`a${i}`, `north=N${number}`);
      const [image] = organizations;
      const lists = byList((name) => ({ ...image.lists[name], bytesHeld: 1000 * number }));
      const history = { ...image.history, bytesHeld: 1 };
      registry.swap('a.sqlite', { ...snapshot, organizations: [{ ...image, lists, history }] });
    }
    expect([registry.liveBytes, registry.retainedBytes]).to.deep.equal([40_001, 4002]);
  });

  it(`counts the memory in use after any history of swaps, releases and removed files (seed ${FIXED.seed})`, () => {
    const organizations = ['north', 'south', 'east'];
    const files = fc.constantFrom('a.sqlite', 'b.sqlite');
    const contents = fc.array(fc.option(fc.integer({ min: 1, max: 5 }), { nil: undefined }), {
      maxLength: 3,
    });
    const step = fc.oneof(
      fc.record({ file: files, contents, shares: fc.boolean() }),
      fc.record({ removed: files }),
      fc.record({ keep: fc.func(fc.boolean()) }),
    );
    /** Returns a list whose neighbours in content share a slab with it. */
    const listOf = (list: ListImage, organization: number, content: number): ListImage => {
      const slabs = [content, content + 1].map((n) => ({
        number: 1 + organization * 10 + n,
        bytes: sharedBytes(100 * n),
      }));
      const records = { slabs, places: new Uint32Array(25 * content), isShared: true };
      const collections = { tickets: { ...list.collections['tickets'], records } };
      return { ...list, collections, bytesHeld: content };
    };
    const property = fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
      registry = new StoreRegistry();
      for (const [i, one] of steps.entries()) {
        if ('contents' in one) {
          const images = one.contents.flatMap((content, organization) => {
            if (content === undefined) return [];
            const image = emptyImage(organizations[organization], `${content}`);
            const history = { ...image.history, bytesHeld: 1 };
            const listWith = (n: number) => listOf(emptyList('tickets', `${n}`), organization, n);
            const earlier = one.shares ? [listWith(1), listWith(2)] : [];
            const lists = { ...image.lists, tickets: listWith(content) };
            return [{ ...image, lists, history, earlier }];
          });
          registry.swap(one.file, { ...emptySnapshot(`${i}`), organizations: images });
        } else if ('removed' in one) registry.markFileRemoved(one.removed);
        else registry.retainOnly(registry.retained.filter(({ image }) => one.keep(image.digest)));
        const live = memoryOf(registry.live.values().flatMap(({ store }) => sectionsOf(store)));
        const retained = memoryOf(
          registry.retained.map(({ image }) => image),
          live.numbers,
        );
        expect([registry.liveBytes, registry.retainedBytes]).to.deep.equal([live.bytes, retained.bytes]);
        expect(registry.bytesBesideLive(registry.retained)).to.equal(retained.bytes);
      }
    });
    fc.assert(property, { ...FIXED, numRuns: byDepth({ short: 100, deep: 2000 }) });
  });

  it('remembers the latest production time of an organization, also after a rollback', () => {
    const swapAt = (instant: bigint) => {
      const snapshot = emptySnapshot(`at ${instant}`, 'north');
      const history = emptyHistory(undefined, instant);
      const organizations = snapshot.organizations.map((one) => ({ ...one, history }));
      registry.swap('a.sqlite', { ...snapshot, organizations });
      return registry.view.get('north')?.latestInstant;
    };
    expect([1n, 5n, 3n].map(swapAt)).to.deep.equal([1n, 5n, 5n]);
    swap('a', 'b', 'south');
    expect([4n, 6n].map(swapAt), 'after it was removed').to.deep.equal([5n, 6n]);
  });

  describe('retains the lists that walks began on', () => {
    function walk(organizationId: string): void {
      const store = registry.view.get(organizationId);
      if (store === undefined) throw new Error(`no store of ${organizationId}`);
      noteUse(store.lists.tickets, 1);
    }
    const retained = () => registry.retained.map(({ image }) => `${image.name} ${image.digest}`);

    it('for requests pinned to their content, over any number of swaps', () => {
      for (const number of [1, 2, 3]) {
        swap('a', `a${number}`, `north=N${number}`);
        walk('north');
      }
      const found = ['N1', 'N2', 'N3', 'N4'].map((pin) => find('north', pin)?.snapshotId);
      expect(found).to.deep.equal(['a1', 'a2', 'a3', undefined]);
    });

    it('and none without a walk, once all workers have the live view', () => {
      swap('a', 'a1', 'north=N1', 'south=S1');
      const south = registry.view.get('south');
      swap('a', 'a2', 'north=N2', 'south=S2');
      expect(find('north', 'N1')?.snapshotId).to.equal('a1');
      // A request that began before the swap sends its link after it.
      if (south) noteUse(south.lists.tickets, 1);
      registry.releaseExpired(WALKED);
      expect(retained()).to.deep.equal(['tickets S1']);
      expect(find('north', 'N1')).to.equal(undefined);
    });

    it('and makes one live again, once, when its content returns', () => {
      swap('a', 'a1', 'north=N1');
      const image = registry.view.get('north')?.lists.tickets;
      walk('north');
      swap('a', 'a2', 'north=N2');
      walk('north');
      swap('a', 'a3', 'north=N1');
      expect(find('north', 'N1')).to.include({ snapshotId: 'a3', image });
      registry.releaseExpired(WALKED);
      expect(retained()).to.deep.equal(['tickets N2']);
    });

    it('but not for a removed organization', () => {
      swap('a', 'a1', 'north=N1', 'south');
      walk('north');
      swap('a', 'a2', 'north=N2', 'south');
      swap('a', 'a3', 'south');
      expect(find('north', 'N1')).to.equal(undefined);
      registry.releaseExpired(WALKED);
      expect(registry.retained).to.deep.equal([]);
    });
  });
});
