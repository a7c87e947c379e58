import type Database from 'better-sqlite3';
import type { Bytes } from '../store/shared.ts';
import type { ContentHash } from './content-hash.ts';
import { CHUNK_ROWS, CONTENT_TABLES, RECORD_COLUMN, SEPARATOR } from './format.ts';

/** Values of columns, in the order of the schema: text and instants as UTF-8, rows of other tables as numbers. */
export type Value = Bytes | RowReference;
export type Values = readonly Value[];

/** A row of another table: counted from the organization's first there, which is what is digested, and that first row. */
export interface RowReference {
  readonly row: number;
  readonly firstRow: number;
}

/**
 * Writes the rows of one organization into one table, and digests them on the way: the digest is of what was
 * meant to be written, so that a fault of the writing shows, too.
 */
export class TableWriter {
  readonly firstRow: number;
  readonly tableName: string;
  rowCount = 0;
  recordBytes = 0;
  readonly #hash: ContentHash;
  readonly #insert: Database.Statement;
  /** What is bound, in one array for all rows. */
  readonly #parameters: (number | Bytes)[] = [];
  readonly #columns: ColumnChunk[];
  readonly #columnNames: readonly string[];
  readonly #recordColumn: number;
  #chunkRows = 0;

  constructor(database: Database.Database, tableName: string, firstRow: number, hash: ContentHash) {
    const table = CONTENT_TABLES.find(({ name }) => name === tableName);
    if (table === undefined) throw new TypeError(`no table ${tableName}`);
    this.firstRow = firstRow;
    this.tableName = tableName;
    this.#hash = hash;
    // Values are bound as bytes, as they came: a text would be decoded and encoded again on the way.
    const values = table.columns.map((column) => `CAST(? AS ${table.types.get(column) ?? 'TEXT'})`);
    this.#insert = database.prepare(`INSERT INTO ${table.name} VALUES (?, ${values.join(', ')})`);
    this.#columns = table.columns.map(() => new ColumnChunk());
    this.#columnNames = table.columns;
    this.#recordColumn = table.columns.indexOf(RECORD_COLUMN);
  }

  add(values: Values): void {
    this.#parameters[0] = this.firstRow + this.rowCount++;
    for (let i = 0; i < values.length; i++) {
      const value = values[i];
      if (value instanceof Uint8Array) {
        this.#parameters[i + 1] = value;
        this.#columns[i].add(value);
        if (i === this.#recordColumn) this.recordBytes += value.length;
      } else {
        this.#parameters[i + 1] = value.firstRow + value.row;
        this.#columns[i].add(Buffer.from(String(value.row)));
      }
    }
    this.#insert.run(this.#parameters);
    if (++this.#chunkRows === CHUNK_ROWS) this.flush();
  }

  /** Digests the rows that were not yet; due after the last one. */
  flush(): void {
    if (this.#chunkRows === 0) return;
    this.#hash.add(
      this.tableName,
      this.#chunkRows,
      this.#columns.map((column, i) => [this.#columnNames[i], column.take()]),
    );
    this.#chunkRows = 0;
  }
}

/** The values of a column in a chunk, separated as the loader reads them. */
class ColumnChunk {
  #bytes: Bytes = new Uint8Array(1024);
  #length = 0;
  #isEmpty = true;

  add(value: Bytes): void {
    const needed = this.#length + value.length + 1;
    if (needed > this.#bytes.length) {
      const grown = new Uint8Array(needed * 2);
      grown.set(this.#bytes.subarray(0, this.#length));
      this.#bytes = grown;
    }
    if (!this.#isEmpty) this.#bytes[this.#length++] = SEPARATOR;
    this.#isEmpty = false;
    this.#bytes.set(value, this.#length);
    this.#length += value.length;
  }

  take(): Bytes {
    const bytes = this.#bytes.subarray(0, this.#length);
    this.#length = 0;
    this.#isEmpty = true;
    return bytes;
  }
}
