import { idIndexBytes } from '../store/id-index.ts';
import { instantIndexBytes } from '../store/instant-index.ts';
import { postingBuilderBytes, postingIndexBytes } from '../store/posting-index.ts';
import { postingsByInstantBytes } from '../store/postings-by-instant.ts';
import { recordsBytes } from '../store/records.ts';
import { INT64_BYTES, UINT32_BYTES } from '../store/shared.ts';
import { CHUNK_ROWS } from './format.ts';
import { COLLECTIONS, EVENTS, SESSIONS } from './layout.ts';
import type { CollectionLayout } from './layout.ts';
import { segmentOf } from './manifest.ts';
import type { ManifestOrganization } from './manifest.ts';
import { MEGABYTE } from './memory-limit.ts';
import { nextFieldsBytes, scheduleBytes } from './sessions-loader.ts';

/** Bytes of memory that a snapshot needs. */
export interface MemoryNeed {
  /** What its images will hold, in shared memory. */
  readonly held: number;
  /** The most that comes to what the process has while it is loaded, `held` included. */
  readonly peak: number;
}

/**
 * Length of a key of an index. It is content, and so are the keys that come more than once: every index is taken to
 * have a key of this length for each row. The keys of few values (status, type, an event's) make up for long ones
 * (UUIDs of 36, e-mails).
 */
export const KEY_BYTES = 24;

/** Lists by an instant are there where some are long, so that there are far fewer keys than rows. */
const FEW_KEYS = 0;

/** The loader's thread before it reads a row: 49 MB were measured. */
const THREAD_BYTES = 56 * MEGABYTE;

/**
 * What goes with the buffers of each organization, some 90: the objects around them, in the loader and in the process,
 * and what the allocator loses. 200 kB were measured.
 */
const ORGANIZATION_BYTES = 192 * 1024;

/** What nobody needs any more, chunks that were read among it, stays until there are this many bytes of it. */
const UNCOLLECTED_BYTES = 64 * MEGABYTE;

/** A chunk is there as SQLite gathers it, as it is handed over, and as the one before it was. */
const COPIES_OF_CHUNK = 3;

/** A radix sort's counts of 16-bit digits, for the four digits of an instant. */
const SORT_COUNTS_BYTES = 4 * 0x1_0000 * UINT32_BYTES;

/** Arrays of a number for each row or pair that the finishing of an index has beside it. */
const FINISHING_ARRAYS = 8;

/**
 * What loading takes, from what the manifest counts. It errs on the side of more: `held` by a tenth, `peak` by a third
 * at most on what was measured. It falls short only where keys are longer than `KEY_BYTES` on average over the
 * indexes, or where the longest records of a table stand together in one chunk.
 */
export function memoryNeed(organizations: readonly ManifestOrganization[]): MemoryNeed {
  const held = sum(organizations.map(heldBytes));
  const working = organizations.map(workingBytes);
  const most = working.reduce((a, b) => Math.max(a, b), 0);
  const uncollected = Math.min(UNCOLLECTED_BYTES, sum(working) - most + sum(organizations.map(readBytes)));
  const fixed = THREAD_BYTES + organizations.length * ORGANIZATION_BYTES;
  return { held, peak: Math.ceil(held + most + uncollected + fixed) };
}

function heldBytes(organization: ManifestOrganization): number {
  const { segments } = organization;
  const collections = COLLECTIONS.map((layout) => {
    const { rowCount, recordBytes } = segmentOf(segments, layout.table);
    const postings = indexesOf(layout, organization).map(
      ({ pairs, keys, isByInstant }) =>
        postingIndexBytes(pairs, keys, keys * KEY_BYTES) +
        (isByInstant ? postingsByInstantBytes(pairs, FEW_KEYS, rowCount) : 0),
    );
    const instants = layout.instants.length * instantIndexBytes(rowCount);
    return recordsBytes(rowCount, recordBytes) + idIndexBytes(rowCount) + sum(postings) + instants;
  });
  const events = segmentOf(segments, EVENTS.table);
  const sessions = segmentOf(segments, SESSIONS.table);
  return sum(collections) + scheduleBytes(events.rowCount, sessions.rowCount, sessions.recordBytes);
}

/** What the loader has beside the images while it fills those of one organization. */
function workingBytes(organization: ManifestOrganization): number {
  const { segments } = organization;
  const collections = COLLECTIONS.map((layout) => {
    const { rowCount } = segmentOf(segments, layout.table);
    const postings = indexesOf(layout, organization).map(({ pairs, keys }) =>
      postingBuilderBytes(pairs, keys, keys * KEY_BYTES),
    );
    return sum(postings) + layout.instants.length * rowCount * INT64_BYTES;
  });
  const counts = COLLECTIONS.map(({ table }) => segmentOf(segments, table).rowCount);
  // An index is finished after the other: a sort, a matrix, or the lists by an instant, which make one of their own.
  const sort = SORT_COUNTS_BYTES + FINISHING_ARRAYS * Math.max(...counts) * UINT32_BYTES;
  const chunks = COLLECTIONS.map(({ table }) => {
    const { rowCount, recordBytes } = segmentOf(segments, table);
    return rowCount <= CHUNK_ROWS ? recordBytes : (recordBytes / rowCount) * CHUNK_ROWS;
  });
  const sessions = segmentOf(segments, SESSIONS.table);
  const nextFields = nextFieldsBytes(sessions.rowCount, sessions.recordBytes);
  return sum(collections) + sort + nextFields + COPIES_OF_CHUNK * Math.max(...chunks);
}

function readBytes({ segments }: ManifestOrganization): number {
  return sum(COLLECTIONS.map(({ table }) => segmentOf(segments, table).recordBytes));
}

/**
 * How many pairs of row and key, and how many keys, each posting index of a collection is taken to have, and whether its
 * lists are there by an instant as well. Pairs of keys are taken to be so few that those of the single ones make up for them.
 */
function indexesOf(
  { table, keys, relations, composites, instants }: CollectionLayout,
  { segments }: ManifestOrganization,
): { pairs: number; keys: number; isByInstant: boolean }[] {
  const { rowCount } = segmentOf(segments, table);
  const pairsOf = new Map([
    ...keys.map(({ index }) => [index, rowCount] as const),
    ...relations.map((relation) => [relation.index, segmentOf(segments, relation.table).rowCount] as const),
  ]);
  const isByInstant = instants.length > 0;
  return [
    ...pairsOf.values().map((pairs) => ({ pairs, keys: pairs, isByInstant })),
    ...composites.map(([first]) => ({ pairs: pairsOf.get(first) ?? 0, keys: 0, isByInstant })),
  ];
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
