import { expect } from 'chai';
import { admit } from '../../src/snapshot/admission.ts';
import { CONTENT_TABLES } from '../../src/snapshot/format.ts';
import type { Manifest } from '../../src/snapshot/manifest.ts';
import { RefusedSnapshot } from '../../src/snapshot/refused-snapshot.ts';
import { StoreRegistry } from '../../src/store/store-registry.ts';
import { emptyImage } from '../store/empty-image.ts';

const NOTHING = { firstRow: 0, rowCount: 0, recordBytes: 0 };

function manifest(day: number, ...organizationIds: string[]): Manifest {
  return {
    snapshotId: `day ${day}`,
    producedAt: `2026-11-0${day}T00:00:00Z`,
    permits: [],
    organizations: organizationIds.map((organizationId) => ({
      organizationId,
      name: organizationId,
      digest: '',
      segments: new Map(CONTENT_TABLES.map(({ name }) => [name, NOTHING])),
    })),
  };
}

describe('admission of a snapshot beside what is live', () => {
  let stores: StoreRegistry;

  /** Takes it, as the loader would: the reason for which it is refused, or undefined when it is live. */
  function take(file: string, next: Manifest): string | undefined {
    try {
      admit(stores, file, next);
    } catch (error) {
      if (error instanceof RefusedSnapshot) return `${error.reason}: ${error.message}`;
      throw error;
    }
    const organizations = next.organizations.map(({ organizationId }) => emptyImage(organizationId));
    stores.swap(file, { ...next, organizations });
    return undefined;
  }

  beforeEach(() => {
    stores = new StoreRegistry();
    expect(take('a.sqlite', manifest(3, 'north', 'south'))).to.equal(undefined);
  });

  it('refuses an organization that another file holds, and names both', () => {
    expect(take('b.sqlite', manifest(4, 'west', 'south')))
      .to.match(/^conflict: /)
      .and.include('"south"')
      .and.include('a.sqlite');
  });

  it('holds a file against its own snapshot before, and no other', () => {
    expect(take('b.sqlite', manifest(1, 'west'))).to.equal(undefined);
    expect(take('a.sqlite', manifest(2, 'north', 'south'))).to.match(/^older/);
    expect(take('a.sqlite', manifest(4, 'north'))).to.match(/^organization-gone: .*"south"/);
    expect(take('b.sqlite', manifest(2, 'west'))).to.equal(undefined);
  });

  it('holds a file that was gone for a while against what it held', () => {
    stores.release('a.sqlite');
    expect(take('a.sqlite', manifest(2, 'north', 'south'))).to.match(/^older/);
    expect(take('a.sqlite', manifest(4, 'north'))).to.match(/^organization-gone/);
  });

  it('holds another file that takes over an organization against what is live of it', () => {
    stores.release('a.sqlite');
    expect(take('b.sqlite', manifest(2, 'south', 'west'))).to.match(/^older: .*"south"/);
    expect(take('b.sqlite', manifest(4, 'south', 'west'))).to.equal(undefined);
  });
});
