import { hash, randomBytes } from 'node:crypto';

const SECRET_BYTES = 32;
/** Characters of every secret. */
export const SECRET_LENGTH = Math.ceil((SECRET_BYTES * 8) / 6);

/** 256 random bits, base64url. */
export function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}

/** Bytes of the digest of any. */
export const DIGEST_BYTES = 32;

/**
 * SHA-256. A slow or salted hash would add nothing: there is no guessing 256 random bits, digest at hand
 * or not.
 */
export function digestOf(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}
