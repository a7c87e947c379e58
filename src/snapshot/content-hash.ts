import { createHash } from 'node:crypto';
import type { Bytes } from '../store/shared.ts';
import { CONTENT_TABLES } from './format.ts';

/**
 * The digest of an organization's content: SHA-256 over, for each table in the order of the schema, its name and
 * count of rows and, for each chunk of it, the SHA-256 of each column. Columns are digested on other threads while
 * the next chunk is made, since to make one and to digest it take about as long as each other.
 */
export class ContentHash {
  readonly #tables = new Map<string, { rowCount: number; digests: Promise<ArrayBuffer>[] }>();
  #pending: Promise<unknown>[] = [];

  /** Adds the next chunk of a table. The columns may be written over when the promise is fulfilled. */
  async addChunk(table: string, rowCount: number, columns: readonly Bytes[]): Promise<void> {
    let parts = this.#tables.get(table);
    if (parts === undefined) this.#tables.set(table, (parts = { rowCount: 0, digests: [] }));
    const digests = columns.map((bytes) => crypto.subtle.digest('SHA-256', new Uint8Array(bytes)));
    parts.rowCount += rowCount;
    parts.digests.push(...digests);
    // Bounds the chunks in memory: this one is let run while the next is made.
    const earlier = this.#pending;
    this.#pending = digests;
    await Promise.all(earlier);
  }

  /** base64url */
  async digest(): Promise<string> {
    const hash = createHash('sha256');
    for (const { name } of CONTENT_TABLES) {
      const parts = this.#tables.get(name);
      hash.update(`${name}\n${parts?.rowCount ?? 0}\n`);
      for (const digest of await Promise.all(parts?.digests ?? [])) hash.update(new Uint8Array(digest));
    }
    return hash.digest('base64url');
  }
}
