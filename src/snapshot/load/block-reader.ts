import type { CollectionName } from '../../contract/operations.ts';
import type Database from 'better-sqlite3';
import { rowSpan } from '../../store/index/row-sets.ts';
import { MEGABYTE, type Uint32s } from '../../store/memory/shared-arrays.ts';
import { byCollection, type CollectionLayout } from '../format/layout.ts';
import type { DeclaredList } from '../format/manifest.ts';
import { damaged, inconsistent } from '../format/refused-snapshot.ts';
import { ListDigest, MAX_TEXT_BYTES, rowBytes, valueColumns } from '../format/schema.ts';

/** Some records of a list, as they are read. */
export interface StoredBlock {
  readonly count: number;
  /** Their rows in the list, from 0, ascending. */
  readonly rows: Uint32s;
  /** The values of each record as a JSON array with a comma after it. */
  readonly values: Buffer<ArrayBuffer>;
  /** The records, each with a comma after it. */
  readonly records: Buffer<ArrayBuffer>;
}

/** Records that are read at once, at most. */
const BLOCK_RECORDS = 1024;
/** Bytes that are read at once, at most, unless one row has more. JSON may have six times as many. */
const BLOCK_BYTES = MEGABYTE / 2;

/** Returns the number of records of a list that are read at once. */
export function blockRecords({ longestRow }: DeclaredList): number {
  return Math.max(1, Math.min(BLOCK_RECORDS, Math.floor(BLOCK_BYTES / longestRow)));
}

type Range = [from: number, to: number, count: number, longestRow: number, organizationId: string];

interface Found extends Pick<StoredBlock, 'count' | 'values' | 'records'> {
  /** The rows in the table: numbers with commas between them; null if they are consecutive. */
  readonly rows: string | null;
  readonly last: number | null;
}

/** Reads the lists of one file of a snapshot by blocks of records. */
export class BlockReader {
  readonly #statements: Readonly<Record<CollectionName, Database.Statement<Range, Found>>>;
  readonly #isOfChanges: boolean;

  constructor(database: Database.Database, isOfChanges = false) {
    this.#isOfChanges = isOfChanges;
    this.#statements = byCollection((layout) => {
      const isList = (name: string) =>
        layout.columns.some(({ column, holds }) => column === name && holds === 'list');
      const values = valueColumns(layout).map((column) => (isList(column) ? `json(${column})` : column));
      // The casts make better-sqlite3 return bytes: it would decode a text into a string. Rows are read in their order,
      // and the digest would not match another one. In a damaged tree, a range may have any number of rows. Lengths are in
      // the header of a row: one that is too long takes no memory. The plus sign keeps SQLite from an index.
      return database.prepare(
        `SELECT ${isOfChanges ? 'group_concat(row)' : 'NULL'} AS rows, max(row) AS last, count(*) AS count,
           CAST(group_concat(json_array(${values.join(', ')}), ',') || ',' AS BLOB) AS "values",
           CAST(group_concat(record, ',') || ',' AS BLOB) AS records
         FROM (SELECT row AS found FROM ${layout.name} WHERE row >= ? AND row < ? LIMIT ?)
           CROSS JOIN ${layout.name} ON row = found
         WHERE ${rowBytes(layout)} <= ?
           AND octet_length(organization_id) <= ${MAX_TEXT_BYTES} AND +organization_id = ?`,
      );
    });
  }

  /**
   * Reads the records of a list that the file has, and checks their digest with the last block.
   * @throws RefusedSnapshot
   */
  *readList(layout: CollectionLayout, organizationId: string, list: DeclaredList): Generator<StoredBlock> {
    if (list.rowCount === 0) return;
    const digest = new ListDigest(this.#isOfChanges);
    let read = 0;
    for (const block of this.read(layout, organizationId, list)) {
      digest.add(block);
      read += block.count;
      if (read === list.rowCount && digest.finish() !== list.digest)
        throw damaged(`the ${layout.name} of organization "${organizationId}" do not match their digest`);
      yield block;
    }
    if (read !== list.rowCount)
      throw inconsistent(
        `${layout.name} has ${read} of the ${list.rowCount} rows of "${organizationId}" that "lists" declares, ` +
          `each of at most ${list.longestRow} bytes`,
      );
  }

  /** Reads the records of a list that the file has. Their digest is not checked. */
  *read({ name }: CollectionLayout, organizationId: string, list: DeclaredList): Generator<StoredBlock> {
    const { firstRow, rowCount, recordCount, longestRow } = list;
    const { [name]: statement } = this.#statements;
    const step = blockRecords(list);
    let from = firstRow;
    for (let read = 0; read < rowCount;) {
      const count = Math.min(step, rowCount - read);
      const found = statement.get(from, firstRow + recordCount, count, longestRow, organizationId);
      if (found === undefined || found.last === null) return;
      const { values, records } = found;
      const inTable = found.rows?.split(',');
      const rows =
        inTable === undefined
          ? rowSpan(from - firstRow, from - firstRow + found.count)
          : Uint32Array.from(inTable, (row) => Number(row) - firstRow);
      yield { count: found.count, rows, values, records };
      read += found.count;
      from = found.last + 1;
    }
  }
}
