import { latestUsedFirst, type StoreRegistry } from '../../store/registry/store-registry.ts';
import { loadedCounts, type Manifest } from '../format/manifest.ts';
import { RefusedSnapshot } from '../format/refused-snapshot.ts';
import { checkSuccession, type Predecessor } from '../format/succession.ts';
import { checkMemory, type MemoryLimit, memoryNeed, type MemoryNeed, missingMemory } from './memory.ts';

/**
 * Refuses declared content that may not go live beside the other files.
 * Releases retained stores as long as memory is insufficient.
 * @param threads number of workers
 */
export function admit(
  stores: StoreRegistry,
  file: string,
  manifest: Manifest,
  limit: MemoryLimit,
  threads: number,
): void {
  for (const { organizationId } of manifest.organizations) {
    const owner = stores.otherOwner(file, organizationId);
    if (owner === undefined) continue;
    throw new RefusedSnapshot(
      'conflict',
      `organization "${organizationId}" is already served from ${owner}; an organization may be in one file only`,
    );
  }
  checkSuccession(manifest, predecessorsOf(stores, file, manifest));
  makeRoom(stores, memoryNeed(manifest.organizations), limit, threads);
}

/** Returns the live organizations that a file replaces: its own, and those of removed files. */
function predecessorsOf(stores: StoreRegistry, file: string, next: Manifest): Predecessor[] {
  const declared = new Set(next.organizations.map(({ organizationId }) => organizationId));
  const replaced = [...stores.live].filter(([id, entry]) => entry.file === file || declared.has(id));
  return replaced.map(([organizationId, { store }]) => ({
    organizationId,
    producedAt: store.producedAt,
    counts: loadedCounts(store.image),
  }));
}

/** Releases retained stores, the longest unused first, until the snapshot fits. */
function makeRoom(stores: StoreRegistry, need: MemoryNeed, limit: MemoryLimit, threads: number): void {
  const kept = latestUsedFirst(stores.retained);
  const bytesHeld = stores.liveBytes + stores.retainedBytes;
  const stored = { bytesHeld, stores: stores.live.size + kept.length, threads };
  while (missingMemory(need, stored, limit) > 0) {
    const released = kept.pop();
    if (released === undefined) break;
    stored.bytesHeld -= released.store.bytesHeld;
    stored.stores--;
  }
  stores.retainOnly(new Set(kept));
  checkMemory(need, stored, limit);
}
