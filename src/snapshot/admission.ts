import type { StoreRegistry } from '../store/store-registry.ts';
import { checkMemory, missingMemory } from './check-memory.ts';
import type { StoredMemory } from './check-memory.ts';
import { checkSuccession } from './gate.ts';
import type { Predecessor } from './gate.ts';
import type { Manifest } from './format/manifest.ts';
import type { MemoryLimit } from './memory-limit.ts';
import { memoryNeed } from './load/memory-need.ts';
import type { MemoryNeed } from './load/memory-need.ts';
import { countsOf } from './record-counts.ts';
import { RefusedSnapshot } from './format/refused-snapshot.ts';

/**
 * Whether what a file declares may take its place among what is live.
 * @param threads how many answer requests, each of which holds some memory
 * @throws RefusedSnapshot
 */
export function admit(
  stores: StoreRegistry,
  file: string,
  manifest: Manifest,
  limit: MemoryLimit,
  threads = 1,
): void {
  for (const { organizationId } of manifest.organizations) {
    const owner = stores.ownerBeside(file, organizationId);
    if (owner === undefined) continue;
    throw new RefusedSnapshot(
      'conflict',
      `organization "${organizationId}" is already served from ${owner}; it may live in one file only`,
    );
  }
  checkSuccession(manifest, predecessorsOf(stores, file, manifest));
  makeRoom(stores, memoryNeed(manifest.organizations), limit, threads);
}

/** Lets go of what is kept for walks, the oldest first, as long as memory is missing. */
function makeRoom(stores: StoreRegistry, need: MemoryNeed, limit: MemoryLimit, threads: number): void {
  const latestFirst = stores.retained.toSorted((a, b) => b.replacedAt - a.replacedAt);
  while (latestFirst.length > 0 && missingMemory(need, memoryOf(stores, threads), limit) > 0) {
    latestFirst.pop();
    stores.keepRetained(new Set(latestFirst));
  }
  checkMemory(need, memoryOf(stores, threads), limit);
}

/** What the stores of a registry have, and as many threads. */
export function memoryOf(
  { live, liveBytes, retained, retainedBytes }: StoreRegistry,
  threads = 1,
): StoredMemory {
  return { bytesHeld: liveBytes + retainedBytes, stores: live.size + retained.length, threads };
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
