import { createHash, hash } from 'node:crypto';
import type { CollectionName } from '../../contract/operations.ts';
import type { Bytes } from '../../store/shared.ts';

/** What cuts the records of a collection into runs, and what identifies the content of a run. */

/** Bytes of the JSON text of one record. */
export const MAX_RECORD_BYTES = 1024 * 1024;
export const MAX_RUN_RECORDS = 4096;
/** Bytes of the records of one run, commas included. */
export const MAX_RUN_BYTES = 16 * 1024 * 1024;

/**
 * Decides whether a record begins a run, by its id alone: the SHA-256 of the id ends in ten zero bits.
 * So a run has some 1,000 records, and a record that comes or goes moves no boundary but that of its own run.
 */
export function beginsRun(id: string): boolean {
  // A character for each byte: a text is made faster than a Buffer.
  const digest = hash('sha256', id, 'latin1');
  return digest.charCodeAt(31) === 0 && (digest.charCodeAt(30) & 0b11) === 0;
}

/**
 * Computes the digest of a run, base64url.
 *
 *     ["tickets",<record_count>,<bytes of each content column …>]\n    as JSON
 *     the content columns, one after the other, in the order of the schema
 */
export function runDigest(
  collection: CollectionName,
  recordCount: number,
  columns: readonly Bytes[],
): string {
  const lengths = columns.map(({ length }) => length);
  const digest = createHash('sha256').update(`${JSON.stringify([collection, recordCount, ...lengths])}\n`);
  for (const column of columns) digest.update(column);
  return digest.digest('base64url');
}
