import { expect } from 'chai';
import { StoreRegistry } from '../../../src/store/registry/store-registry.ts';
import { emptyHistory, emptySnapshot } from '../../support/empty-image.ts';
import { byList, noteUse } from '../../../src/store/organization-image.ts';

/** Returns the live snapshot of each organization. */
function live(registry: StoreRegistry, ...organizationIds: string[]): (string | undefined)[] {
  return organizationIds.map((id) => registry.view.live.get(id)?.snapshotId);
}

function find(registry: StoreRegistry, organizationId: string, digest: string) {
  return registry.view.find(organizationId, 'tickets', digest);
}

describe('A store registry', () => {
  it('is empty before the first snapshot', () => {
    const registry = new StoreRegistry();
    expect(registry.view.live.size).to.equal(0);
    expect(registry.view.live.get('north')).to.equal(undefined);
    registry.swap('a.sqlite', emptySnapshot('a1', 'north'));
    expect(registry.view.live.size).to.equal(1);
  });

  it('gives the store of an organization, with the details of its snapshot', () => {
    const registry = new StoreRegistry();
    registry.swap('a.sqlite', emptySnapshot('a1', 'north'));
    const { organizationId, snapshotId, producedAt, lists } = registry.view.live.get('north') ?? {};
    expect({ organizationId, snapshotId, producedAt, digest: lists?.tickets.digest }).to.deep.equal({
      organizationId: 'north',
      snapshotId: 'a1',
      producedAt: '2026-11-21T04:00:00.000Z',
      digest: 'digest',
    });
    for (const other of ['North', 'north ', '', '__proto__', 'constructor']) {
      expect(registry.view.live.get(other), other).to.equal(undefined);
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
    const held = registry.view.live.get('north');
    registry.swap('a.sqlite', emptySnapshot('a2', 'north'));
    expect(held?.snapshotId).to.equal('a1');
    expect(registry.view.live.get('north')).not.to.equal(held);
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

  it('keeps the memory of each list whose content is unchanged, and reports the new snapshot', () => {
    const registry = new StoreRegistry();
    const first = emptySnapshot('a1', 'north=N1');
    registry.swap('a.sqlite', first);
    const [{ lists }] = first.organizations;
    for (const changed of Object.values(lists)) {
      const second = emptySnapshot('a2', 'north=N1');
      const [image] = second.organizations;
      const other = { ...image.lists[changed.name], digest: 'N2' };
      registry.swap('a.sqlite', {
        ...second,
        organizations: [{ ...image, lists: { ...image.lists, [changed.name]: other } }],
      });
      expect(registry.view.live.get('north')?.lists).to.deep.equal({ ...lists, [changed.name]: other });
      for (const list of Object.values(lists)) {
        const found = registry.view.find('north', list.name, 'N1');
        expect(found?.image, list.name).to.equal(list);
        expect(found?.snapshotId, list.name).to.equal(list === changed ? 'a1' : 'a2');
      }
      registry.releaseUnwalked();
      expect(registry.retained).to.deep.equal([]);
      registry.swap('a.sqlite', first);
    }
  });

  it('has a history for each snapshot, also where the content is unchanged', () => {
    const registry = new StoreRegistry();
    const [first, second] = ['a1', 'a2'].map((id) => emptySnapshot(id, 'north=N1'));
    registry.swap('a.sqlite', first);
    registry.swap('a.sqlite', second);
    expect(registry.view.live.get('north')?.history).to.equal(second.organizations[0].history);
    expect(registry.view.holds('north', first.organizations[0].history), 'for streams').to.equal(true);
    registry.releaseUnwalked();
    expect(registry.view.holds('north', first.organizations[0].history)).to.equal(false);
  });

  it('counts the memory of each section once', () => {
    const registry = new StoreRegistry();
    for (const [i, number] of [1, 10, 10].entries()) {
      const { organizations, ...snapshot } = emptySnapshot(`a${i}`, `north=N${number}`);
      const [image] = organizations;
      const lists = byList((name) => ({ ...image.lists[name], bytesHeld: 1000 * number }));
      const history = { ...image.history, bytesHeld: 1 };
      registry.swap('a.sqlite', { ...snapshot, organizations: [{ ...image, lists, history }] });
    }
    expect([registry.liveBytes, registry.retainedBytes]).to.deep.equal([40_001, 4002]);
  });

  it('remembers the latest production time of an organization, also after a rollback', () => {
    const registry = new StoreRegistry();
    const swap = (instant: bigint) => {
      const snapshot = emptySnapshot(`at ${instant}`, 'north');
      const history = emptyHistory(undefined, instant);
      const organizations = snapshot.organizations.map((one) => ({ ...one, history }));
      registry.swap('a.sqlite', { ...snapshot, organizations });
      return registry.view.live.get('north')?.latestInstant;
    };
    expect([1n, 5n, 3n].map(swap)).to.deep.equal([1n, 5n, 5n]);
    registry.swap('a.sqlite', emptySnapshot('b', 'south'));
    expect([4n, 6n].map(swap), 'after it was removed').to.deep.equal([5n, 6n]);
  });

  describe('retains the lists that walks began on', () => {
    function walk(registry: StoreRegistry, organizationId: string): void {
      const store = registry.view.live.get(organizationId);
      if (store === undefined) throw new Error(`no store of ${organizationId}`);
      noteUse(store.lists.tickets, 1);
    }
    const retained = (registry: StoreRegistry) =>
      registry.retained.map(({ image }) => `${image.name} ${image.digest}`);

    it('for requests pinned to their content, over any number of swaps', () => {
      const registry = new StoreRegistry();
      for (const number of [1, 2, 3]) {
        registry.swap('a.sqlite', emptySnapshot(`a${number}`, `north=N${number}`));
        walk(registry, 'north');
      }
      const found = ['N1', 'N2', 'N3', 'N4'].map((pin) => find(registry, 'north', pin)?.snapshotId);
      expect(found).to.deep.equal(['a1', 'a2', 'a3', undefined]);
    });

    it('and none without a walk, once all workers have the live view', () => {
      const registry = new StoreRegistry();
      registry.swap('a.sqlite', emptySnapshot('a1', 'north=N1', 'south=S1'));
      const south = registry.view.live.get('south');
      registry.swap('a.sqlite', emptySnapshot('a2', 'north=N2', 'south=S2'));
      expect(find(registry, 'north', 'N1')?.snapshotId).to.equal('a1');
      // A request that began before the swap sends its link after it.
      if (south) noteUse(south.lists.tickets, 1);
      registry.releaseUnwalked();
      expect(retained(registry)).to.deep.equal(['tickets S1']);
      expect(find(registry, 'north', 'N1')).to.equal(undefined);
    });

    it('out of reach of other organizations', () => {
      const registry = new StoreRegistry();
      registry.swap('a.sqlite', emptySnapshot('a1', 'north=N1', 'south=S1'));
      walk(registry, 'north');
      registry.swap('a.sqlite', emptySnapshot('a2', 'north=N2', 'south=S2'));
      expect(find(registry, 'south', 'N1')).to.equal(undefined);
      expect(find(registry, 'east', 'N1')).to.equal(undefined);
    });

    it('and makes one live again, once, when its content returns', () => {
      const registry = new StoreRegistry();
      registry.swap('a.sqlite', emptySnapshot('a1', 'north=N1'));
      const image = registry.view.live.get('north')?.lists.tickets;
      walk(registry, 'north');
      registry.swap('a.sqlite', emptySnapshot('a2', 'north=N2'));
      walk(registry, 'north');
      registry.swap('a.sqlite', emptySnapshot('a3', 'north=N1'));
      expect(find(registry, 'north', 'N1')).to.include({ snapshotId: 'a3', image });
      registry.releaseUnwalked();
      expect(retained(registry)).to.deep.equal(['tickets N2']);
    });

    it('until it is released', () => {
      const registry = new StoreRegistry();
      registry.swap('a.sqlite', emptySnapshot('a1', 'north=N1'));
      walk(registry, 'north');
      registry.swap('a.sqlite', emptySnapshot('a2', 'north=N2'));
      registry.retainOnly(registry.retained);
      expect(find(registry, 'north', 'N1')?.snapshotId).to.equal('a1');
      registry.retainOnly([]);
      expect(find(registry, 'north', 'N1')).to.equal(undefined);
    });

    it('but not for a removed organization', () => {
      const registry = new StoreRegistry();
      registry.swap('a.sqlite', emptySnapshot('a1', 'north=N1', 'south'));
      walk(registry, 'north');
      registry.swap('a.sqlite', emptySnapshot('a2', 'north=N2', 'south'));
      registry.swap('a.sqlite', emptySnapshot('a3', 'south'));
      expect(find(registry, 'north', 'N1')).to.equal(undefined);
      registry.releaseUnwalked();
      expect(registry.retained).to.deep.equal([]);
    });
  });
});
