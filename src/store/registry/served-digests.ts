import { hash } from 'node:crypto';

/**
 * Fingerprints of the content that was live and was replaced, in shared memory: the main thread writes them, the
 * workers read them. A fingerprint covers organization and content digest. It belongs to one of many small sets, which
 * have the latest one first and evict the oldest:
 *
 *     set 0              set 1              …
 *     | f f f f 0 0 0 0 | f f 0 0 0 0 0 0 | …       64 bits each, 0 for none
 *
 * A reader that meets a write may miss a fingerprint; its client then tries again.
 */
export type ServedDigests = BigInt64Array<SharedArrayBuffer>;

const SETS = 2 ** 13;
const SET_LENGTH = 8;

/** The system allocates memory only for sets that are used. */
export function newServedDigests(): ServedDigests {
  return new BigInt64Array(new SharedArrayBuffer(SETS * SET_LENGTH * BigInt64Array.BYTES_PER_ELEMENT));
}

export function noteServed(served: ServedDigests, organizationId: string, contentDigest: string): void {
  const { set, fingerprint } = placeOf(served, organizationId, contentDigest);
  if (set.includes(fingerprint)) return;
  set.copyWithin(1, 0);
  set[0] = fingerprint;
}

/** Returns whether an organization had the content. It is forgotten after many others, never confused with another. */
export function wasServed(served: ServedDigests, organizationId: string, contentDigest: string): boolean {
  const { set, fingerprint } = placeOf(served, organizationId, contentDigest);
  return set.includes(fingerprint);
}

function placeOf(served: ServedDigests, organizationId: string, contentDigest: string) {
  // An organization id contains no colon.
  const bytes = hash('sha256', `${organizationId}:${contentDigest}`, 'buffer');
  const start = (bytes.readUInt32LE(8) % SETS) * SET_LENGTH;
  return { set: served.subarray(start, start + SET_LENGTH), fingerprint: bytes.readBigInt64LE(0) };
}
