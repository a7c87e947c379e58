import { createHash } from 'node:crypto';
import type { Hash } from 'node:crypto';
import type { Bytes } from '../store/shared.ts';
import { CONTENT_TABLES, SEPARATOR } from './format.ts';

const VALUE_END = Uint8Array.of(SEPARATOR);

/**
 * The digest of an organization's content: SHA-256 over, for each table in the order of the schema, its name, its
 * count of rows and the SHA-256 of each of its columns; that of a column is over its values, each followed by the
 * separator.
 */
export class ContentHash {
  readonly #tables = new Map<string, { rowCount: number; columns: Hash[] }>();

  /** Adds rows of a table: for each column the values, the separator between them. */
  add(table: string, rowCount: number, columns: readonly Bytes[]): void {
    let hashes = this.#tables.get(table);
    if (hashes === undefined) {
      hashes = { rowCount: 0, columns: columns.map(() => createHash('sha256')) };
      this.#tables.set(table, hashes);
    }
    hashes.rowCount += rowCount;
    for (const [i, values] of columns.entries()) hashes.columns[i].update(values).update(VALUE_END);
  }

  /** base64url; to be asked for once. */
  digest(): string {
    const hash = createHash('sha256');
    for (const { name } of CONTENT_TABLES) {
      const table = this.#tables.get(name);
      hash.update(`${name}\n${table?.rowCount ?? 0}\n`);
      for (const column of table?.columns ?? []) hash.update(column.digest());
    }
    return hash.digest('base64url');
  }
}
