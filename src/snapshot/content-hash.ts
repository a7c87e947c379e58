import { createHash } from 'node:crypto';
import type { Hash } from 'node:crypto';
import type { Bytes } from '../store/shared.ts';
import { CONTENT_TABLES, SEPARATOR } from './format.ts';

const VALUE_END = Uint8Array.of(SEPARATOR);

/** What of a table goes into the digest of an organization. */
export interface TableDigest {
  readonly rowCount: number;
  /** SHA-256 of each column by its name, none when there are no rows. */
  readonly columns: ReadonlyMap<string, Uint8Array>;
}

/**
 * The digest of an organization's content: SHA-256 over, for each table in the order of the schema, its name, its
 * count of rows and the SHA-256 of each of its columns; that of a column is over its values, each followed by the
 * separator.
 */
export class ContentHash {
  readonly #tables = new Map<string, { rowCount: number; columns: Map<string, Hash> }>();

  /** Adds rows of a table: of columns the values by the column's name, the separator between them. */
  add(table: string, rowCount: number, columns: Iterable<readonly [name: string, values: Bytes]>): void {
    const added = this.#tables.get(table) ?? { rowCount: 0, columns: new Map<string, Hash>() };
    this.#tables.set(table, added);
    added.rowCount += rowCount;
    for (const [name, values] of columns) {
      const hash = added.columns.get(name) ?? createHash('sha256');
      added.columns.set(name, hash);
      hash.update(values).update(VALUE_END);
    }
  }

  /** By table, of those that have rows; to be asked for once. */
  tables(): Map<string, TableDigest> {
    return new Map(
      this.#tables.entries().map(([table, { rowCount, columns }]) => {
        const digests = columns.entries().map(([name, hash]) => [name, hash.digest()] as const);
        return [table, { rowCount, columns: new Map(digests) }];
      }),
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
  for (const { name, columns } of CONTENT_TABLES) {
    const table = tables.get(name);
    hash.update(`${name}\n${table?.rowCount ?? 0}\n`);
    for (const column of table === undefined ? [] : columns) {
      const digest = table?.columns.get(column);
      if (digest === undefined) throw new TypeError(`column ${column} of ${name} was not digested`);
      hash.update(digest);
    }
  }
  return hash.digest('base64url');
}

/** What of each table goes into the digest, where some columns of it were digested by one thread and some by another. */
export function joinDigests(
  parts: readonly ReadonlyMap<string, TableDigest>[],
): ReadonlyMap<string, TableDigest> {
  const joined = new Map<string, TableDigest>();
  for (const [table, { rowCount, columns }] of parts.flatMap((tables) => [...tables])) {
    const other = joined.get(table) ?? { rowCount: 0, columns: [] };
    joined.set(table, {
      rowCount: other.rowCount + rowCount,
      columns: new Map([...other.columns, ...columns]),
    });
  }
  return joined;
}
