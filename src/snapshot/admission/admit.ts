import { parseTimestamp } from '../../contract/timestamp.ts';
import { latestUsedFirst, type StoreRegistry } from '../../store/registry/store-registry.ts';
import { COLLECTIONS } from '../format/layout.ts';
import { declaredCounts, loadedCounts, type Manifest, type RecordCounts } from '../format/manifest.ts';
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
 * Checks that the declared content of a file may go live with the other files.
 * Releases retained stores as long as memory is insufficient.
 * @param threads number of workers
 * @throws RefusedSnapshot
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
function predecessorsOf(
  stores: StoreRegistry,
  file: string,
  { organizations }: Manifest,
): Map<string, Predecessor> {
  const declared = new Set(organizations.map(({ organizationId }) => organizationId));
  const replaced = [...stores.live].filter(([id, entry]) => entry.file === file || declared.has(id));
  return new Map(
    replaced.map(([id, { store }]) => [
      id,
      { producedAt: store.producedAt, counts: loadedCounts(store.image) },
    ]),
  );
}

/** Releases retained stores, the longest unused first, until the snapshot fits. */
function makeRoom(stores: StoreRegistry, need: MemoryNeed, limit: MemoryLimit, threads: number): void {
  const kept = latestUsedFirst(stores.retained);
  let stored = storedMemory(stores, threads);
  while (missingMemory(need, stored, limit) > 0) {
    const released = kept.pop();
    if (released === undefined) break;
    const bytesHeld = stored.bytesHeld - released.store.bytesHeld;
    stored = { ...stored, bytesHeld, stores: stored.stores - 1 };
  }
  stores.retainOnly(new Set(kept));
  checkMemory(need, stored, limit);
}

export function storedMemory(
  { live, liveBytes, retained, retainedBytes }: StoreRegistry,
  threads: number,
): StoredMemory {
  return { bytesHeld: liveBytes + retainedBytes, stores: live.size + retained.length, threads };
}

/** The snapshot of an organization that another snapshot would replace. */
export interface Predecessor {
  /** ISO 8601. */
  readonly producedAt: string;
  readonly counts: RecordCounts;
}

/** Share of a collection's records that a snapshot must keep to go live without the permit to shrink. */
const MIN_KEPT = 0.5;

/**
 * Checks that a snapshot is neither older nor much smaller than its predecessors.
 * It keeps their organizations and half of each collection. A permit of the snapshot skips the corresponding check.
 * @param predecessors by organization id
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
      `it was produced at ${producedAt}, and the snapshot that it would replace for organization ` +
        `"${organizationId}" at ${predecessor.producedAt}; to roll back, publish it with --rollback`,
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
        `it lacks organization "${organizationId}" of the snapshot that it would replace; ` +
          'to remove the organization, publish it with --allow-shrink',
      );
    }
    for (const { name } of COLLECTIONS) {
      if (next[name] >= counts[name] * MIN_KEPT) continue;
      throw new RefusedSnapshot(
        'shrunk',
        `it has ${next[name]} ${name} of organization "${organizationId}", and the snapshot that it would ` +
          `replace has ${counts[name]}; to remove the records, publish it with --allow-shrink`,
      );
    }
  }
}

function instantOf(producedAt: string): bigint {
  const instant = parseTimestamp(producedAt);
  if (instant === undefined) throw new TypeError(`not a timestamp: ${producedAt}`);
  return instant;
}
