import { parseTimestamp } from '../../contract/timestamp.ts';
import type { StoreRegistry } from '../../store/registry/store-registry.ts';
import { COLLECTIONS } from '../format/layout.ts';
import { loadedCounts, declaredCounts, type Manifest, type RecordCounts } from '../format/manifest.ts';
import { RefusedSnapshot } from '../format/refused-snapshot.ts';
import {
  checkMemory,
  type MemoryLimit,
  memoryNeed,
  type MemoryNeed,
  missingMemory,
  type StoredMemory,
} from './memory.ts';

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
    const owner = stores.otherOwner(file, organizationId);
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
    stores.retainOnly(new Set(latestFirst));
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
    replaced.map(([id, { store }]) => [
      id,
      { producedAt: store.producedAt, counts: loadedCounts(store.image) },
    ]),
  );
}

/** What is known of an organization before another snapshot brings it. */
export interface Predecessor {
  /** ISO 8601. */
  readonly producedAt: string;
  readonly counts: RecordCounts;
}

/** A collection that keeps at least this part of its records may go live without leave. */
const LEAST_KEPT = 0.5;

/**
 * Whether a snapshot may take the place of others: it may not be older, lose an organization, or lose more than
 * half of a collection, but with the leave that it was published with.
 *
 * @param predecessors by organization: those that the snapshot replaces
 * @throws RefusedSnapshot
 */
export function checkSuccession(next: Manifest, predecessors: ReadonlyMap<string, Predecessor>): void {
  if (!next.permits.includes('rollback')) checkAge(next, predecessors);
  if (!next.permits.includes('shrink')) checkCounts(next, predecessors);
}

function checkAge({ producedAt }: Manifest, predecessors: ReadonlyMap<string, Predecessor>): void {
  const produced = instantOf(producedAt);
  for (const [organizationId, predecessor] of predecessors) {
    if (produced >= instantOf(predecessor.producedAt)) continue;
    throw new RefusedSnapshot(
      'older',
      `it was produced at ${producedAt}, and what it would replace of organization "${organizationId}" at ` +
        `${predecessor.producedAt}; to go back on purpose, publish it with --rollback`,
    );
  }
}

function checkCounts({ organizations }: Manifest, predecessors: ReadonlyMap<string, Predecessor>): void {
  const declared = new Map(organizations.map((next) => [next.organizationId, declaredCounts(next)]));
  for (const [organizationId, { counts }] of predecessors) {
    const next = declared.get(organizationId);
    if (next === undefined) {
      throw new RefusedSnapshot(
        'organization-gone',
        `organization "${organizationId}" is in what it would replace, and not in it; if that is to go, publish it with --allow-shrink`,
      );
    }
    for (const { name: collection } of COLLECTIONS) {
      const [before, after] = [counts[collection], next[collection]];
      if (after >= before * LEAST_KEPT) continue;
      throw new RefusedSnapshot(
        'shrunk',
        `organization "${organizationId}" has ${after} ${collection} in it, and ${before} in what it would replace; ` +
          'if so many are to go, publish it with --allow-shrink',
      );
    }
  }
}

function instantOf(producedAt: string): bigint {
  const instant = parseTimestamp(producedAt);
  if (instant === undefined) throw new TypeError(`not a timestamp: ${producedAt}`);
  return instant;
}
