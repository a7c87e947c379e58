import { MEGABYTE } from './memory-limit.ts';
import type { MemoryLimit, MemoryLimitSource } from './memory-limit.ts';
import type { MemoryNeed } from './load/memory-need.ts';
import { RefusedSnapshot } from './format/refused-snapshot.ts';

/** What there is in the process that holds memory: stores, live and retained, and threads. */
export interface StoredMemory {
  /** Bytes of shared memory that they hold. */
  readonly bytesHeld: number;
  /** How many stores there are. */
  readonly stores: number;
  /** How many threads answer requests. */
  readonly threads: number;
}

/** Code, heap and buffers of a process that serves, with one thread that answers requests: 150 MB were measured. */
const PROCESS_BYTES = 160 * MEGABYTE;

/** Those of each further thread: 45 MB were measured. */
const THREAD_BYTES = 48 * MEGABYTE;

/** The objects around the buffers of a store: 50 kB were measured. */
const STORE_BYTES = 64 * 1024;

/**
 * Bytes that the process has, worked out from what it keeps. What the system says is resident would count memory that
 * was freed and that the next load takes again: after a swap that is as much as the load had beside its result.
 * What was let go of is not counted, so the caller has to see to it that it is collected.
 */
function bytesInUse({ bytesHeld, stores, threads }: StoredMemory): number {
  // Each thread has objects of its own around what all share.
  return PROCESS_BYTES + (threads - 1) * THREAD_BYTES + bytesHeld + threads * stores * STORE_BYTES;
}

/** Bytes that are missing for a snapshot to be loaded beside what is there; 0 when there is room. */
export function missingMemory(need: MemoryNeed, stored: StoredMemory, limit: MemoryLimit): number {
  return Math.max(0, bytesInUse(stored) + need.peak - limit.bytes);
}

const LIMITS: Readonly<Record<MemoryLimitSource, { readonly name: string; readonly remedy: string }>> = {
  MEMORY_LIMIT_MB: { name: 'MEMORY_LIMIT_MB', remedy: 'raise MEMORY_LIMIT_MB' },
  cgroup: { name: 'its cgroup or container', remedy: 'give it more memory' },
  machine: { name: 'the machine', remedy: 'take a machine with more memory' },
};

/**
 * Refuses a snapshot for which there is no room: what is live goes on serving while the next is loaded, so that for a
 * while both are there. To be asked once all that can be done without was let go of.
 * @throws RefusedSnapshot
 */
export function checkMemory(need: MemoryNeed, stored: StoredMemory, limit: MemoryLimit): void {
  const missing = missingMemory(need, stored, limit);
  if (missing === 0) return;
  const { name, remedy } = LIMITS[limit.source];
  throw new RefusedSnapshot(
    'memory',
    `to load it takes ${megabytes(need.peak)} (${megabytes(need.held)} of them to stay), ` +
      `${megabytes(bytesInUse(stored))} are in use, and the limit is ${megabytes(limit.bytes)}, set by ${name}: ` +
      `${megabytes(missing)} are missing; ${remedy}, or spread the organizations over several snapshot files, ` +
      'which are loaded one after the other',
  );
}

/** Rounded up, so that what is missing is never 0. */
function megabytes(bytes: number): string {
  return `${Math.ceil(bytes / MEGABYTE)} MB`;
}
