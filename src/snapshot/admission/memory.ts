import { totalmem } from 'node:os';
import { byList, type ListImage, listOf, sharedRecordsOf } from '../../store/organization-image.ts';
import { keyOf } from '../../store/registry/store-view.ts';
import { MEGABYTE } from '../../store/memory/shared-arrays.ts';
import {
  type CollectionLayout,
  type ColumnLayout,
  COLLECTIONS,
  layoutsOf,
  SESSIONS,
} from '../format/layout.ts';
import { type DeclaredList, isPacked, listDigest, type ManifestOrganization } from '../format/manifest.ts';
import { RefusedSnapshot } from '../format/refused-snapshot.ts';

const SOURCES = {
  MEMORY_LIMIT_MB: { name: 'MEMORY_LIMIT_MB', remedy: 'raise MEMORY_LIMIT_MB' },
  cgroup: { name: 'the cgroup or container', remedy: 'give it more memory' },
  machine: { name: 'the machine', remedy: 'use a machine with more memory' },
} as const;

export interface MemoryLimit {
  readonly bytes: number;
  readonly source: keyof typeof SOURCES;
}

/**
 * Returns the configured limit, else the lower one of machine and cgroup, else infinity.
 *
 * Without a readable cgroup limit, `process.constrainedMemory()` returns 0 or more than any machine has: 2^64 - 1, or
 * 2^63 less a page (https://docs.libuv.org/en/v1.x/misc.html#c.uv_get_constrained_memory).
 * @param system in bytes, 0 where unknown
 */
export function memoryLimit(
  configuredMegabytes?: number,
  system = { machine: totalmem(), cgroup: process.constrainedMemory() },
): MemoryLimit {
  if (configuredMegabytes !== undefined)
    return { bytes: configuredMegabytes * MEGABYTE, source: 'MEMORY_LIMIT_MB' };
  const machine = system.machine > 0 ? system.machine : Infinity;
  const { cgroup } = system;
  if (cgroup > 0 && cgroup < machine) return { bytes: cgroup, source: 'cgroup' };
  return { bytes: machine, source: 'machine' };
}

/** The memory that a snapshot needs, in bytes. */
export interface MemoryNeed {
  /** Shared memory of its images. */
  readonly held: number;
  /** Maximum growth of the process during the load, `held` included. */
  readonly peak: number;
  readonly organizations: number;
}

const CHANGE_BYTES = 12; // for each record: its row (4) and instant (8) among the changes
// For each record: its place (12), the hash of its id (4), and up to four slots of the id index (16).
const RECORD_BYTES = 32;
// For each text of a record, besides its bytes: a key with up to four slots (16), its end (4), and a list of one row
// (8). Records that share keys need less, even where long lists are also ordered by instant.
const TEXT_BYTES = 28;
const PAIR_BYTES = 36; // for each pair of a composite index: a key of 8 bytes likewise
const INSTANT_BYTES = 24; // for each instant column of it: the instant (8), its row (4), its rank (4), and a matrix
const SCHEDULE_BYTES = 36; // for each session: its event, its start, and an entry in the index `startAt`
const ORGANIZATION_BYTES = 64 * 1024; // for each organization: the objects around its buffers, in both threads
const NAME_BYTES = 8; // for each character of its name, in both threads
const BUILDING_BYTES = 96; // for each record of the largest list: the arrays from which its indexes are built
const ELEMENT_BUILDING_BYTES = 48; // for each element of its lists, likewise
// For each byte of the longest row: JSON has up to six for it, in the rows that are read ahead, and in copies.
const ROW_BUFFERS = 80;
const DELETION_BYTES = 16; // for each deletion: the offset of its id (8), and its instant (8)
const DELETION_BUILDING_BYTES = 250; // for each deletion: the objects from which these are built
// The threads of a load: 70 to 90 MB were measured, and up to ten blocks of records with their JSON.
const LOADER_BYTES = 108 * MEGABYTE;

/**
 * Estimates the memory that a load adds, from the declared counts and bytes of the lists.
 *
 *     held = record bytes to copy + index bytes of lists that are not kept + 12 bytes for each record
 *     peak = held + 108 MB
 *            + 12 bytes for each record of lists in memory, 64 kB for each organization, and 80 times the longest row
 *            + the most that an organization needs to build a list, with 250 bytes for each of its deletions
 *
 * With records of a kilobyte, `held` exceeds the actual images by 10 to 25 %.
 * @param kept the keys of the lists that the load does not make again; by default none
 * @param bytesToCopy bytes of records of large lists that are not in memory; by default, all of the other lists
 * @param sharing lists in memory whose records the load may move: they get new places
 */
export function memoryNeed(
  organizations: readonly ManifestOrganization[],
  kept: ReadonlySet<string> = new Set(),
  bytesToCopy?: number,
  sharing: readonly ListImage[] = [],
): MemoryNeed {
  let [held, records, building, longest] = [0, 0, 0, 0];
  let objects = sharing.flatMap(sharedRecordsOf).reduce((sum, { places }) => sum + places.byteLength, 0);
  for (const organization of organizations) {
    const { organizationId, name, lists, deletionCount, deletionBytes } = organization;
    held += deletionBytes + deletionCount * DELETION_BYTES;
    objects += ORGANIZATION_BYTES + name.length * NAME_BYTES;
    const deletions = deletionCount * DELETION_BUILDING_BYTES;
    building = Math.max(building, deletions);
    const isKept = byList(
      (list) =>
        // No packed list is kept, so that the digests of thousands are not computed.
        layoutsOf(list).some((layout) => !isPacked(lists[layout.name])) &&
        kept.has(keyOf(organizationId, { name: list, digest: listDigest(organization, list) })),
    );
    for (const layout of COLLECTIONS) {
      const list = lists[layout.name];
      const { recordCount, recordBytes, textBytes, listElements, longestRow } = list;
      longest = Math.max(longest, longestRow);
      held += recordCount * CHANGE_BYTES;
      if (isKept[listOf(layout.name)]) continue;
      if (isPacked(list)) held += recordBytes;
      else records += recordBytes;
      // The end of an event record for a session is about as long as the record of the session.
      if (layout === SESSIONS) held += recordBytes;
      held += indexBytes(layout, list);
      const parts = recordCount * BUILDING_BYTES + listElements * ELEMENT_BUILDING_BYTES + textBytes * 2;
      building = Math.max(building, deletions + parts);
    }
  }
  held += bytesToCopy ?? records;
  const loader = LOADER_BYTES + longest * ROW_BUFFERS;
  return { held, peak: held + loader + objects + building, organizations: organizations.length };
}

function indexBytes(
  layout: CollectionLayout,
  { recordCount, textBytes, listElements }: DeclaredList,
): number {
  // The columns of sessions become schedules.
  if (layout === SESSIONS) return recordCount * (RECORD_BYTES + SCHEDULE_BYTES);
  const columnsOf = (kind: ColumnLayout['holds']) =>
    layout.columns.filter(({ holds }) => holds === kind).length;
  const texts = recordCount * columnsOf('text') + listElements;
  const pairs = (recordCount + listElements) * layout.composites.length;
  const instants = recordCount * columnsOf('instant');
  return (
    textBytes +
    recordCount * RECORD_BYTES +
    texts * TEXT_BYTES +
    pairs * PAIR_BYTES +
    instants * INSTANT_BYTES
  );
}

const PROCESS_BYTES = 160 * MEGABYTE; // code, heap and buffers with one worker: 150 MB were measured
const WORKER_BYTES = 48 * MEGABYTE; // heap and buffers of each further worker: 45 MB were measured
const SECTIONS = Object.keys(byList(String)).length + 1; // of an organization: its lists and its history
const SECTION_BYTES = 16 * 1024; // the objects around a section's buffers, in each thread: 10 kB were measured

/** Computes the memory of the objects around the buffers of sections, with a number of workers. */
export function objectBytes(sections: number, threads: number): number {
  return threads * sections * SECTION_BYTES;
}

/**
 * Computes the memory of the process.
 * The resident set is not a measure of it: it includes freed memory that the next load reuses. After a swap, that is as
 * much as the load took besides its images. Released sections do not count, so the registry prompts their garbage
 * collection.
 * @param held by the sections of a number of organizations
 */
export function bytesInUse(held: number, organizations: number, threads: number): number {
  const objects = objectBytes(organizations * SECTIONS, threads);
  return PROCESS_BYTES + (threads - 1) * WORKER_BYTES + held + objects;
}

/** Computes the memory to load the largest of some snapshots in addition to a live and a retained one of each. */
export function plannedMemory(needs: readonly MemoryNeed[], threads = 1): number {
  const sum = (of: 'held' | 'organizations') => needs.reduce((total, need) => total + need[of], 0);
  return (
    bytesInUse(2 * sum('held'), 2 * sum('organizations'), threads) +
    Math.max(...needs.map(({ peak }) => peak))
  );
}

/** Refuses a snapshot that does not fit in addition to the memory in use. */
export function checkMemory(
  need: Pick<MemoryNeed, 'held' | 'peak'>,
  inUse: number,
  limit: MemoryLimit,
): void {
  const missing = inUse + need.peak - limit.bytes;
  if (missing <= 0) return;
  const { name, remedy } = SOURCES[limit.source];
  throw new RefusedSnapshot(
    'memory',
    `loading it needs ${megabytes(need.peak)} (${megabytes(need.held)} of it permanently), ` +
      `${megabytes(inUse)} is in use, and the limit is ${megabytes(limit.bytes)}, set by ${name}: ` +
      `${megabytes(missing)} is missing; ${remedy}, or divide the organizations among several snapshot files, ` +
      'which are loaded one after the other',
  );
}

/** Rounds up, so that missing memory is never shown as 0. */
function megabytes(bytes: number): string {
  return `${Math.ceil(bytes / MEGABYTE)} MB`;
}
