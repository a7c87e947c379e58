import type { StoreRegistry } from '../store/store-registry.ts';
import { checkSuccession } from './gate.ts';
import type { Predecessor } from './gate.ts';
import type { Manifest } from './manifest.ts';
import { countsOf } from './record-counts.ts';
import { RefusedSnapshot } from './refused-snapshot.ts';

/**
 * Whether what a file declares may take its place among what is live.
 * @throws RefusedSnapshot
 */
export function admit(stores: StoreRegistry, file: string, manifest: Manifest): void {
  for (const { organizationId } of manifest.organizations) {
    const owner = stores.ownerBeside(file, organizationId);
    if (owner === undefined) continue;
    throw new RefusedSnapshot(
      'conflict',
      `organization "${organizationId}" is already served from ${owner}; it may live in one file only`,
    );
  }
  checkSuccession(manifest, predecessorsOf(stores, file, manifest));
}

/** What the snapshot of a file replaces: what came from that file, and what came from files that are gone. */
function predecessorsOf(
  stores: StoreRegistry,
  file: string,
  { organizations }: Manifest,
): Map<string, Predecessor> {
  const named = new Set(organizations.map(({ organizationId }) => organizationId));
  const replaced = [...stores.live].filter(([id, entry]) => entry.file === file || named.has(id));
  return new Map(
    replaced.map(([id, { store }]) => [id, { producedAt: store.producedAt, counts: countsOf(store.image) }]),
  );
}
