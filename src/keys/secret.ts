import { hash, randomBytes } from 'node:crypto';

const SECRET_BYTES = 32;

/** 256 random bits, base64url. */
export function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}

/** Bytes of the digest of any. */
export const DIGEST_BYTES = 32;

/**
 * Returns the SHA-256 of a secret, in hexadecimal digits. A slow or salted hash would add nothing: 256 random bits cannot be guessed, with or
 * without the digest.
 */
export function digestOf(secret: string): string {
  return hash('sha256', secret);
}
