import { COLLECTIONS, SESSIONS } from '../format/layout.ts';
import type { CollectionLayout } from '../format/layout.ts';
import type { ManifestOrganization } from '../format/manifest.ts';
import { MEGABYTE } from '../memory-limit.ts';

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
const THREAD_BYTES = 64 * MEGABYTE;
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
  const loader = THREAD_BYTES + Math.min(held, UNCOLLECTED_BYTES);
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
