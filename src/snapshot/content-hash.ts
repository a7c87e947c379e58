import { createHash } from 'node:crypto';
import type { Hash } from 'node:crypto';
import type { Bytes } from '../store/shared.ts';
import { CONTENT_TABLES, SEPARATOR } from './format.ts';

const VALUE_END = Uint8Array.of(SEPARATOR);

/** What of a table goes into the digest of an organization. */
export interface TableDigest {
  readonly rowCount: number;
  /** SHA-256 of each column, none when there are no rows. */
  readonly columns: readonly Uint8Array[];
}

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

  /** By table, of those that have rows; to be asked for once. */
  tables(): Map<string, TableDigest> {
    return new Map(
      this.#tables
        .entries()
        .map(([name, { rowCount, columns }]) => [
          name,
          { rowCount, columns: columns.map((column) => column.digest()) },
        ]),
    );
  }

  /** base64url; to be asked for once. */
  digest(): string {
    return contentDigest(this.tables());
  }
}

/** base64url */
export function contentDigest(tables: ReadonlyMap<string, TableDigest>): string {
  const hash = createHash('sha256');
  for (const { name } of CONTENT_TABLES) {
    const { rowCount, columns } = tables.get(name) ?? { rowCount: 0, columns: [] };
    hash.update(`${name}\n${rowCount}\n`);
    for (const column of columns) hash.update(column);
  }
  return hash.digest('base64url');
}
