import { hash, randomBytes } from 'node:crypto';

export interface Credential {
  readonly organizationId: string;
  readonly secret: string;
}

/** `Bearer svc:o:<organization>:<secret>`: the scheme is case-insensitive, each part of visible ASCII characters without ":". */
const FORM = /^[Bb][Ee][Aa][Rr][Ee][Rr] +svc:o:([!-9;-~]+):([!-9;-~]+)$/;

/** Parses the value of an Authorization header; returns undefined when it has another form. */
export function parseCredential(value: string): Credential | undefined {
  const parts = FORM.exec(value);
  if (parts === null) return undefined;
  const [, organizationId = '', secret = ''] = parts;
  return { organizationId, secret };
}

/** Formats a credential as it follows `Bearer` in the header. */
export function formatCredential({ organizationId, secret }: Credential): string {
  return `svc:o:${organizationId}:${secret}`;
}

const SECRET_BYTES = 32;

/** Generates a secret: 256 random bits, base64url. */
export function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}

export const DIGEST_BYTES = 32;

/**
 * Returns the SHA-256 of a secret, in hexadecimal digits. A slow or salted hash would not add security: 256 random
 * bits cannot be guessed, with or without the digest.
 */
export function digestOf(secret: string): string {
  return hash('sha256', secret);
}
