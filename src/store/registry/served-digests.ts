import { hash } from 'node:crypto';

/**
 * Fingerprints of the content of lists that was live and is released, in shared memory: the main thread writes them,
 * the workers read them. A fingerprint belongs to one of many small sets, which have the latest one first and evict the
 * oldest:
 *
 *     set 0              set 1              …
 *     | f f f f 0 0 0 0 | f f 0 0 0 0 0 0 | …       64 bits each, 0 for none
 *
 * A reader that meets a write may miss a fingerprint; its client then tries again.
 */
export type ServedDigests = BigInt64Array<SharedArrayBuffer>;

const SETS = 2 ** 15;
const SET_LENGTH = 8;

/** The system allocates memory only for sets that are used. */
export function newServedDigests(): ServedDigests {
  return new BigInt64Array(new SharedArrayBuffer(SETS * SET_LENGTH * BigInt64Array.BYTES_PER_ELEMENT));
}

/** @param key of `keyOf` */
export function noteServed(served: ServedDigests, key: string): void {
  const { set, fingerprint } = placeOf(served, key);
  if (set.includes(fingerprint)) return;
  set.copyWithin(1, 0);
  set[0] = fingerprint;
}

/** Returns whether content was served. It is forgotten after many others, never confused with another. */
export function wasServed(served: ServedDigests, key: string): boolean {
  const { set, fingerprint } = placeOf(served, key);
  return set.includes(fingerprint);
}

function placeOf(served: ServedDigests, key: string) {
  const bytes = hash('sha256', key, 'buffer');
  const start = (bytes.readUInt32LE(8) % SETS) * SET_LENGTH;
  return { set: served.subarray(start, start + SET_LENGTH), fingerprint: bytes.readBigInt64LE(0) };
}
