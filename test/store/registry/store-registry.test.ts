import { expect } from 'chai';
import { StoreRegistry } from '../../../src/store/registry/store-registry.ts';
import { emptyHistory, emptySnapshot } from '../../support/empty-image.ts';

/** Returns the live snapshot of each organization. */
function live(registry: StoreRegistry, ...organizationIds: string[]): (string | undefined)[] {
  return organizationIds.map((id) => registry.view.get(id)?.snapshotId);
}

describe('A store registry', () => {
  it('is empty before the first snapshot', () => {
    const registry = new StoreRegistry();
    expect(registry.view.isEmpty).to.equal(true);
    expect(registry.view.get('north')).to.equal(undefined);
    registry.swap('a.sqlite', emptySnapshot('a1', 'north'));
    expect(registry.view.isEmpty).to.equal(false);
  });

  it('gives the store of an organization, with the details of its snapshot', () => {
    const registry = new StoreRegistry();
    registry.swap('a.sqlite', emptySnapshot('a1', 'north'));
    const { organizationId, snapshotId, producedAt, contentDigest } = registry.view.get('north') ?? {};
    expect({ organizationId, snapshotId, producedAt, contentDigest }).to.deep.equal({
      organizationId: 'north',
      snapshotId: 'a1',
      producedAt: '2026-11-21T04:00:00.000Z',
      contentDigest: 'digest',
    });
    for (const other of ['North', 'north ', '', '__proto__', 'constructor']) {
      expect(registry.view.get(other), other).to.equal(undefined);
    }
  });

  it('replaces the previous snapshot of the same file', () => {
    const registry = new StoreRegistry();
    registry.swap('a.sqlite', emptySnapshot('a1', 'north', 'south'));
    registry.swap('b.sqlite', emptySnapshot('b1', 'east'));
    registry.swap('a.sqlite', emptySnapshot('a2', 'north', 'west'));
    expect(live(registry, 'north', 'south', 'east', 'west')).to.deep.equal(['a2', undefined, 'b1', 'a2']);
  });

  it('does not change a store that a reader still holds', () => {
    const registry = new StoreRegistry();
    registry.swap('a.sqlite', emptySnapshot('a1', 'north'));
    const held = registry.view.get('north');
    registry.swap('a.sqlite', emptySnapshot('a2', 'north'));
    expect(held?.snapshotId).to.equal('a1');
    expect(registry.view.get('north')).not.to.equal(held);
  });

  it('refuses an organization of another file, names both files, and changes nothing', () => {
    const registry = new StoreRegistry();
    registry.swap('a.sqlite', emptySnapshot('a1', 'north', 'south'));
    registry.swap('b.sqlite', emptySnapshot('b1', 'east'));
    expect(() => {
      registry.swap('b.sqlite', emptySnapshot('b2', 'west', 'south', 'east'));
    }).to.throw('b.sqlite: organization "south" is served from another file');
    expect(live(registry, 'north', 'south', 'east', 'west')).to.deep.equal(['a1', 'a1', 'b1', undefined]);
  });

  it('lets an organization move to another file once its own file no longer has it', () => {
    const registry = new StoreRegistry();
    registry.swap('a.sqlite', emptySnapshot('a1', 'north', 'south'));
    registry.swap('a.sqlite', emptySnapshot('a2', 'north'));
    registry.swap('b.sqlite', emptySnapshot('b1', 'south'));
    expect(live(registry, 'north', 'south')).to.deep.equal(['a2', 'b1']);
  });

  it('lets another file provide the organizations of a deleted file', () => {
    const registry = new StoreRegistry();
    registry.swap('a.sqlite', emptySnapshot('a1', 'north', 'south'));
    registry.markFileRemoved('a.sqlite');
    expect(live(registry, 'north', 'south')).to.deep.equal(['a1', 'a1']);
    registry.swap('b.sqlite', emptySnapshot('b1', 'south'));
    expect(live(registry, 'north', 'south')).to.deep.equal(['a1', 'b1']);
    expect(registry.live.get('north')).to.include({ file: 'a.sqlite', isFilePresent: false });
  });

  it('keeps its memory when the content is unchanged, and reports the new snapshot', () => {
    const registry = new StoreRegistry();
    registry.swap('a.sqlite', emptySnapshot('a1', 'north=N1'));
    const { image } = registry.view.get('north') ?? {};
    registry.swap('a.sqlite', emptySnapshot('a2', 'north=N1'));
    expect(registry.view.get('north')?.image).to.equal(image);
    expect(live(registry, 'north')).to.deep.equal(['a2']);
    expect(registry.retained).to.deep.equal([]);
  });

  it('has a history for each snapshot, also where the content is unchanged', () => {
    const registry = new StoreRegistry();
    const [first, second] = ['a1', 'a2'].map((id) => emptySnapshot(id, 'north=N1'));
    registry.swap('a.sqlite', first);
    registry.swap('a.sqlite', second);
    expect(registry.view.get('north')?.history).to.equal(second.organizations[0].history);
  });

  it('counts the memory of content and history', () => {
    const registry = new StoreRegistry();
    for (const number of [1, 2]) {
      const snapshot = emptySnapshot(`a${number}`, `north=N${number}`);
      const organizations = snapshot.organizations.map(({ content, history }) => ({
        content: { ...content, bytesHeld: 1000 * number },
        history: { ...history, bytesHeld: number },
      }));
      registry.swap('a.sqlite', { ...snapshot, organizations });
    }
    expect([registry.liveBytes, registry.retainedBytes]).to.deep.equal([2002, 1001]);
  });

  it('remembers the latest production time of an organization, also after a rollback', () => {
    const registry = new StoreRegistry();
    const swap = (instant: bigint) => {
      const snapshot = emptySnapshot(`at ${instant}`, 'north');
      const organizations = snapshot.organizations.map((one) => ({
        ...one,
        history: emptyHistory(undefined, instant),
      }));
      registry.swap('a.sqlite', { ...snapshot, organizations });
      return registry.view.get('north')?.latestInstant;
    };
    expect([1n, 5n, 3n].map(swap)).to.deep.equal([1n, 5n, 5n]);
    registry.swap('a.sqlite', emptySnapshot('b', 'south'));
    expect([4n, 6n].map(swap), 'after it was removed').to.deep.equal([5n, 6n]);
  });

  describe('retains the stores that walks began on', () => {
    function walk(registry: StoreRegistry, organizationId: string): void {
      const store = registry.view.get(organizationId);
      if (store === undefined) throw new Error(`no store of ${organizationId}`);
      store.walks.noteUse(1);
    }

    it('for requests pinned to their content, over any number of swaps', () => {
      const registry = new StoreRegistry();
      for (const number of [1, 2, 3]) {
        registry.swap('a.sqlite', emptySnapshot(`a${number}`, `north=N${number}`));
        walk(registry, 'north');
      }
      const found = ['N1', 'N2', 'N3', 'N4', undefined].map(
        (pin) => registry.view.get('north', pin)?.snapshotId,
      );
      expect(found).to.deep.equal(['a1', 'a2', 'a3', undefined, 'a3']);
    });

    it('and none without a walk, once all workers have the live view', () => {
      const registry = new StoreRegistry();
      registry.swap('a.sqlite', emptySnapshot('a1', 'north=N1', 'south=S1'));
      const south = registry.view.get('south');
      registry.swap('a.sqlite', emptySnapshot('a2', 'north=N2', 'south=S2'));
      expect(registry.view.get('north', 'N1')?.snapshotId).to.equal('a1');
      // A request that began before the swap sends its link after it.
      if (south) south.walks.noteUse(1);
      registry.releaseUnwalked();
      expect(registry.retained.map(({ store }) => store.contentDigest)).to.deep.equal(['S1']);
      expect(registry.view.get('north', 'N1')).to.equal(undefined);
    });

    it('out of reach of other organizations', () => {
      const registry = new StoreRegistry();
      registry.swap('a.sqlite', emptySnapshot('a1', 'north=N1', 'south=S1'));
      walk(registry, 'north');
      registry.swap('a.sqlite', emptySnapshot('a2', 'north=N2', 'south=S2'));
      expect(registry.view.get('south', 'N1')).to.equal(undefined);
      expect(registry.view.get('east', 'N1')).to.equal(undefined);
    });

    it('and makes one live again, once, when its content returns', () => {
      const registry = new StoreRegistry();
      registry.swap('a.sqlite', emptySnapshot('a1', 'north=N1'));
      const { image } = registry.view.get('north') ?? {};
      walk(registry, 'north');
      registry.swap('a.sqlite', emptySnapshot('a2', 'north=N2'));
      walk(registry, 'north');
      registry.swap('a.sqlite', emptySnapshot('a3', 'north=N1'));
      expect(registry.view.get('north', 'N1')).to.include({ snapshotId: 'a3', image });
      expect(registry.retained.map(({ store }) => store.contentDigest)).to.deep.equal(['N2']);
    });

    it('until it is released', () => {
      const registry = new StoreRegistry();
      registry.swap('a.sqlite', emptySnapshot('a1', 'north=N1'));
      walk(registry, 'north');
      registry.swap('a.sqlite', emptySnapshot('a2', 'north=N2'));
      registry.retainOnly(new Set(registry.retained));
      expect(registry.view.get('north', 'N1')?.snapshotId).to.equal('a1');
      registry.retainOnly(new Set());
      expect(registry.view.get('north', 'N1')).to.equal(undefined);
    });

    it('but not for a removed organization', () => {
      const registry = new StoreRegistry();
      registry.swap('a.sqlite', emptySnapshot('a1', 'north=N1', 'south'));
      walk(registry, 'north');
      registry.swap('a.sqlite', emptySnapshot('a2', 'north=N2', 'south'));
      registry.swap('a.sqlite', emptySnapshot('a3', 'south'));
      expect(registry.view.get('north', 'N1')).to.equal(undefined);
      expect(registry.retained).to.deep.equal([]);
    });
  });
});
