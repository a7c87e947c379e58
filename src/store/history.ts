import { lowerInstantBound } from './index/row-sets.ts';
import { sharedBytes, sharedInt64s } from './memory/shared-arrays.ts';
import type { HistoryImage, LineageImage } from './organization-image.ts';

/** The history of an organization's records: the snapshots that it covers, and the changes since each of them. */

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
