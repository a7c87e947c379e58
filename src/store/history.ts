import { type Bytes, sharedBytes } from './memory/shared-arrays.ts';
import type { HistoryImage } from './organization-image.ts';

/** The form of snapshot ids. */
export const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** A snapshot: its UUID, and its production time in microseconds since the epoch. */
type Snapshot = readonly [id: string, instant: bigint];

/** Returns the lineage of snapshots: a line for each. No line is the end of another, since all ids have one length. */
export function lineageOf(snapshots: readonly Snapshot[]): Bytes {
  const lines = Buffer.from(snapshots.map(lineOf).join(''));
  const lineage = sharedBytes(lines.length);
  lineage.set(lines);
  return lineage;
}

/** Returns whether the changes since a snapshot are known. */
export function descendsFrom({ lineage, since }: HistoryImage, snapshot: Snapshot): boolean {
  const [, instant] = snapshot;
  return instant >= since && Buffer.from(lineage.buffer).includes(lineOf(snapshot));
}

function lineOf([id, instant]: Snapshot): string {
  return `${id} ${instant}\n`;
}
