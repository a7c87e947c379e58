import { collectionCourse } from './collection-course.ts';
import { EVENTS, OFFERS, ORDERS, SESSIONS, TICKETS } from './layout.ts';
import { segmentOf } from './manifest.ts';
import type { ManifestOrganization } from './manifest.ts';
import { atOnce, inTurn } from './memory-course.ts';
import type { MemoryCourse } from './memory-course.ts';
import { MEGABYTE } from './memory-limit.ts';
import { isShared, isWorthSharing, LEAST_SHARED_BYTES } from './shared-reading.ts';
import { nextFieldsBytes, scheduleBytes } from './sessions-loader.ts';

/** Bytes of memory that a snapshot needs. */
export interface MemoryNeed {
  /** What its images will hold, in shared memory. */
  readonly held: number;
  /** The most that comes to what the process has while it is loaded, `held` included. */
  readonly peak: number;
}

/** A thread of the loader before it reads a row, 49 MB were measured, and what it reads of a file at a time. */
const THREAD_BYTES = 72 * MEGABYTE;

/**
 * What goes with the buffers of each organization, some 90: the objects around them, in the loader and in the process,
 * and what the allocator loses. 200 kB were measured.
 */
const ORGANIZATION_BYTES = 192 * 1024;

/** What a thread needs no more stays until there are this many bytes of it. */
const UNCOLLECTED_BYTES = 64 * MEGABYTE;

/**
 * What loading takes, from what the manifest counts. It errs on the side of more. It falls short only where keys are
 * longer than `KEY_BYTES` on average over the indexes, or where a great part of the records name others that are not
 * there: how many keys an index has is taken from the table whose ids they are.
 *
 * @param leastShared from how many bytes of records on an organization is read by two threads
 */
export function memoryNeed(
  organizations: readonly ManifestOrganization[],
  leastShared = LEAST_SHARED_BYTES,
): MemoryNeed {
  const threads = isWorthSharing(organizations, leastShared) ? 2 : 1;
  const first: MemoryCourse[] = [];
  const second: MemoryCourse[] = [];
  for (const organization of organizations) {
    first.push(collectionCourse(TICKETS, organization));
    const isReadBySecond = threads === 2 && isShared(organization, leastShared);
    (isReadBySecond ? second : first).push(
      collectionCourse(ORDERS, organization),
      catalogCourse(organization),
    );
  }
  const { held, peak } = atOnce([inTurn(first), inTurn(second)]);
  // As much as all of them let go of, where that is less: small organizations leave little behind.
  const passing = [...first, ...second].reduce((sum, course) => sum + course.peak, 0);
  const uncollected = threads * Math.min(UNCOLLECTED_BYTES, passing);
  const fixed = threads * THREAD_BYTES + organizations.length * ORGANIZATION_BYTES;
  return { held, peak: Math.ceil(peak + uncollected + fixed) };
}

/** The rest of an organization: events, sessions and offers, of which there are fewer. */
function catalogCourse(organization: ManifestOrganization): MemoryCourse {
  const events = segmentOf(organization.segments, EVENTS.table);
  const { rowCount, recordBytes } = segmentOf(organization.segments, SESSIONS.table);
  const schedule = scheduleBytes(events.rowCount, rowCount, recordBytes);
  return atOnce([
    ...[EVENTS, SESSIONS, OFFERS].map((layout) => collectionCourse(layout, organization)),
    { held: schedule, peak: schedule + nextFieldsBytes(rowCount, recordBytes) },
  ]);
}
