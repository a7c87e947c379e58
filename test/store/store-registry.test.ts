import { expect } from 'chai';
import type { SnapshotImage } from '../../src/store/organization-image.ts';
import { OrganizationConflict, StoreRegistry } from '../../src/store/store-registry.ts';
import { emptyImage } from './empty-image.ts';

function snapshot(snapshotId: string, ...organizationIds: string[]): SnapshotImage {
  return {
    snapshotId,
    producedAt: '2026-11-21T04:00:00.000Z',
    organizations: organizationIds.map((id) => emptyImage(id)),
  };
}

/** The snapshot that each organization is served from. */
function live(registry: StoreRegistry, ...organizationIds: string[]): (string | undefined)[] {
  return organizationIds.map((id) => registry.get(id)?.snapshotId);
}

describe('A store registry', () => {
  it('is empty until a snapshot comes', () => {
    const registry = new StoreRegistry();
    expect(registry.isEmpty).to.equal(true);
    expect(registry.get('north')).to.equal(undefined);
    registry.swap('a.sqlite', snapshot('a1', 'north'));
    expect(registry.isEmpty).to.equal(false);
  });

  it('gives the store of an organization, with what is told of its snapshot', () => {
    const registry = new StoreRegistry();
    registry.swap('a.sqlite', snapshot('a1', 'north'));
    const { organizationId, snapshotId, producedAt, digest } = registry.get('north') ?? {};
    expect({ organizationId, snapshotId, producedAt, digest }).to.deep.equal({
      organizationId: 'north',
      snapshotId: 'a1',
      producedAt: '2026-11-21T04:00:00.000Z',
      digest: 'digest',
    });
    for (const other of ['North', 'north ', '', '__proto__', 'constructor']) {
      expect(registry.get(other), other).to.equal(undefined);
    }
  });

  it('puts a snapshot in the place of the one before it of the same file', () => {
    const registry = new StoreRegistry();
    registry.swap('a.sqlite', snapshot('a1', 'north', 'south'));
    registry.swap('b.sqlite', snapshot('b1', 'east'));
    registry.swap('a.sqlite', snapshot('a2', 'north', 'west'));
    expect(live(registry, 'north', 'south', 'east', 'west')).to.deep.equal(['a2', undefined, 'b1', 'a2']);
  });

  it('leaves a store whole that somebody still reads', () => {
    const registry = new StoreRegistry();
    registry.swap('a.sqlite', snapshot('a1', 'north'));
    const held = registry.get('north');
    registry.swap('a.sqlite', snapshot('a2', 'north'));
    expect(held?.snapshotId).to.equal('a1');
    expect(registry.get('north')).not.to.equal(held);
  });

  it('refuses an organization that another file serves, names both, and changes nothing', () => {
    const registry = new StoreRegistry();
    registry.swap('a.sqlite', snapshot('a1', 'north', 'south'));
    registry.swap('b.sqlite', snapshot('b1', 'east'));
    expect(() => {
      registry.swap('b.sqlite', snapshot('b2', 'west', 'south', 'east'));
    }).to.throw(OrganizationConflict, 'b.sqlite: organization "south" is already served from a.sqlite');
    expect(live(registry, 'north', 'south', 'east', 'west')).to.deep.equal(['a1', 'a1', 'b1', undefined]);
  });

  it('lets an organization move when the file that had it no longer does', () => {
    const registry = new StoreRegistry();
    registry.swap('a.sqlite', snapshot('a1', 'north', 'south'));
    registry.swap('a.sqlite', snapshot('a2', 'north'));
    registry.swap('b.sqlite', snapshot('b1', 'south'));
    expect(live(registry, 'north', 'south')).to.deep.equal(['a2', 'b1']);
  });
});
