import { totalmem } from 'node:os';
import { type CollectionLayout, COLLECTIONS, SESSIONS } from '../format/layout.ts';
import type { ManifestOrganization } from '../format/manifest.ts';
import { RefusedSnapshot } from '../format/refused-snapshot.ts';

/** Bytes of one of the megabytes that operators write and read, as `MEMORY_LIMIT_MB` and as containers count them. */
export const MEGABYTE = 1024 * 1024;

/** What sets the limit, as it is named to operators. */
export type MemoryLimitSource = 'MEMORY_LIMIT_MB' | 'cgroup' | 'machine';

/** How much memory the process may have. */
export interface MemoryLimit {
  readonly bytes: number;
  readonly source: MemoryLimitSource;
}

/** What the system says, in bytes; 0 where it does not know. */
export interface SystemMemory {
  readonly machine: number;
  readonly cgroup: number;
}

/**
 * The limit that is configured, else the least that the system sets. Infinite when nothing is known.
 *
 * Without a limit, or with one that cannot be read, `process.constrainedMemory()` gives 0 or a number beyond any
 * machine: 2^64 - 1, or 2^63 less a page (https://docs.libuv.org/en/v1.x/misc.html#c.uv_get_constrained_memory).
 */
export function memoryLimit(configuredMegabytes?: number, system = systemMemory()): MemoryLimit {
  if (configuredMegabytes !== undefined) {
    return { bytes: configuredMegabytes * MEGABYTE, source: 'MEMORY_LIMIT_MB' };
  }
  const machine = system.machine > 0 ? system.machine : Infinity;
  return system.cgroup > 0 && system.cgroup < machine
    ? { bytes: system.cgroup, source: 'cgroup' }
    : { bytes: machine, source: 'machine' };
}

function systemMemory(): SystemMemory {
  return { machine: totalmem(), cgroup: process.constrainedMemory() };
}

/** Bytes of memory that a snapshot needs. */
export interface MemoryNeed {
  /** What its images hold in shared memory. */
  readonly held: number;
  /** The most by which the process grows while the snapshot is loaded, `held` included. */
  readonly peak: number;
}

/** For each record: its offset (8), and up to four slots of the id index (16). */
const RECORD_BYTES = 24;
/**
 * For each record and column of texts: at most a key of its own, with up to four slots (16), its end (4), 20 bytes of
 * text, and a list of one row (8). Records that share keys need less, also where long lists have an order by instant.
 */
const TEXT_BYTES = 48;
/** For each record and column of instants: the instant (8), its row (4), its rank (4), and a wavelet matrix. */
const INSTANT_BYTES = 24;
/** For each session: its event, its start and its place in the order of starts, and those of the event's `startAt`. */
const SCHEDULE_BYTES = 40;
/** For each organization: the objects around its buffers, in the loader and in the process. */
const ORGANIZATION_BYTES = 64 * 1024;
/** For each record of the largest collection: the arrays from which its indexes are built. */
const BUILDING_BYTES = 96;
/** The thread of the loader: 50 MB were measured. */
const LOADER_BYTES = 64 * MEGABYTE;
/** Buffers of runs that were read and are not collected yet: as much as was read, up to this. */
const UNCOLLECTED_BYTES = 64 * MEGABYTE;
/** For longer keys, and for lists of several texts, of which the manifest does not tell. */
const MARGIN = 1.05;

/**
 * Estimates the memory that a load takes, from the counts and lengths of the runs in the manifest.
 *
 *     held = 1.05 × (bytes of records + bytes of indexes for each record)
 *     peak = held + 64 MB + held up to 64 MB
 *            + 64 kB for each organization + 96 bytes for each record of the largest collection
 *
 * With records of a kilobyte, `held` is 10 to 25 % more than the images hold. It falls short only where most keys
 * have more than 40 bytes, or most records have lists of dozens of texts.
 */
export function memoryNeed(organizations: readonly ManifestOrganization[]): MemoryNeed {
  let held = 0;
  let largest = 0;
  for (const { runs } of organizations) {
    for (const layout of COLLECTIONS) {
      let [count, bytes] = [0, 0];
      for (const { recordCount, recordBytes } of runs[layout.name]) {
        count += recordCount;
        bytes += recordBytes;
      }
      held += bytes + count * indexBytes(layout);
      // The fields of a next session are about as long as its record.
      if (layout === SESSIONS) held += bytes;
      largest = Math.max(largest, count);
    }
  }
  held = Math.ceil(held * MARGIN);
  const loader = LOADER_BYTES + Math.min(held, UNCOLLECTED_BYTES);
  return {
    held,
    peak: held + loader + organizations.length * ORGANIZATION_BYTES + largest * BUILDING_BYTES,
  };
}

/** Returns the bytes of the indexes of a collection for each record, at most. */
function indexBytes(layout: CollectionLayout): number {
  if (layout === SESSIONS) return RECORD_BYTES + SCHEDULE_BYTES;
  return layout.columns.reduce(
    (sum, { holds }) => sum + (holds === 'instant' ? INSTANT_BYTES : TEXT_BYTES),
    RECORD_BYTES,
  );
}

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
const WORKER_BYTES = 48 * MEGABYTE;

/** The objects around the buffers of a store: 50 kB were measured. */
const STORE_BYTES = 64 * 1024;

/**
 * Bytes that the process has, worked out from what it keeps. What the system says is resident would count memory that
 * was freed and that the next load takes again: after a swap that is as much as the load had beside its result.
 * What was let go of is not counted, so the caller has to see to it that it is collected.
 */
function bytesInUse({ bytesHeld, stores, threads }: StoredMemory): number {
  // Each thread has objects of its own around what all share.
  return PROCESS_BYTES + (threads - 1) * WORKER_BYTES + bytesHeld + threads * stores * STORE_BYTES;
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
