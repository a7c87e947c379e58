import type { InstantImage } from './index/instant-index.ts';
import { lowerInstantBound } from './index/row-sets.ts';
import { type Bytes, type Int64s, sharedBytes, sharedInt64s, type Uint32s } from './memory/shared-arrays.ts';
import type { CollectionImage, OrganizationImage } from './organization-image.ts';
import type { RecordsImage } from './records.ts';

/**
 * The snapshots from which a copy can be continued, earliest first: those from which a snapshot descends, and itself.
 *
 *     instants   production times, microseconds since the epoch
 *     ids        the 16 bytes of each UUID
 */
export interface LineageImage {
  readonly instants: Int64s;
  readonly ids: Bytes;
}

/** The changes of a collection, each by the production time of the first snapshot that has it. */
export interface ChangesImage {
  /** Records that were added or changed, by their last change. */
  readonly changed: InstantImage;
  /** Ids of deleted records, as JSON texts. */
  readonly deleted: { readonly sorted: Int64s; readonly ids: RecordsImage };
}

/** The changes of an organization. Each snapshot has its own, also where the content stays. */
export interface HistoryImage {
  readonly lineage: LineageImage;
  /** Production time of the first snapshot in the lineage with the organization, microseconds since the epoch. */
  readonly since: bigint;
  readonly changes: Readonly<Record<CollectionKey, ChangesImage>>;
  /** Bytes of shared memory, without those of the lineage, which all organizations of a file share. */
  readonly bytesHeld: number;
}

type CollectionKey = {
  [Name in keyof OrganizationImage]: OrganizationImage[Name] extends CollectionImage ? Name : never;
}[keyof OrganizationImage];

/** The form of snapshot ids. */
export const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const UUID_BYTES = 16;

/** @param snapshots earliest first: the UUID, and the production time in microseconds since the epoch */
export function lineageOf(
  snapshots: readonly { readonly id: string; readonly instant: bigint }[],
): LineageImage {
  const ids = sharedBytes(snapshots.length * UUID_BYTES);
  const instants = sharedInt64s(snapshots.length);
  for (const [i, { id, instant }] of snapshots.entries()) {
    ids.set(uuidBytes(id), i * UUID_BYTES);
    instants[i] = instant;
  }
  return { instants, ids };
}

/** Returns the production time of the snapshot, microseconds since the epoch. */
export function producedInstant({ lineage: { instants } }: HistoryImage): bigint {
  return instants[instants.length - 1];
}

/** Returns whether the changes since a snapshot are known. */
export function descendsFrom({ lineage, since }: HistoryImage, id: string, instant: bigint): boolean {
  const { instants, ids } = lineage;
  const i = lowerInstantBound(instants, instant);
  if (i >= instants.length || instants[i] !== instant || instant < since) return false;
  return uuidBytes(id).equals(ids.subarray(i * UUID_BYTES, (i + 1) * UUID_BYTES));
}

function uuidBytes(id: string): Buffer {
  return Buffer.from(id.replaceAll('-', ''), 'hex');
}

/** Returns the rows of the records that changed after an instant, and the positions of those deleted after it. */
export function changesAfter(
  { changed, deleted }: ChangesImage,
  instant: bigint,
): { readonly rows: Uint32s; readonly deletedFrom: number; readonly deletedUntil: number } {
  return {
    rows: changed.rows.subarray(lowerInstantBound(changed.sorted, instant + 1n)),
    deletedFrom: lowerInstantBound(deleted.sorted, instant + 1n),
    deletedUntil: deleted.sorted.length,
  };
}
