import type { CollectionName } from '../../contract/operations.ts';
import type Database from 'better-sqlite3';
import type { Instant } from '../../contract/timestamp.ts';
import { MEGABYTE } from '../../store/memory/shared-arrays.ts';
import { byCollection, type CollectionLayout } from '../format/layout.ts';
import type { DeclaredList } from '../format/manifest.ts';
import { damaged, inconsistent } from '../format/refused-snapshot.ts';
import { ListDigest, MAX_TEXT_BYTES, rowBytes, valueColumns } from '../format/schema.ts';

/** Some records of a list, as they are read. */
export interface StoredBlock {
  readonly count: number;
  /** Row of the first record in the list, from 0. */
  readonly firstRow: number;
  /** The rows, numbers with commas between them, unless they are consecutive. */
  readonly rows?: string;
  /** The values of each record as a JSON array with a comma after it. */
  readonly values: Buffer<ArrayBuffer>;
  /** The records, each with a comma after it. */
  readonly records: Buffer<ArrayBuffer>;
}

/** Records that are read at once, at most. */
const BLOCK_RECORDS = 1024;
/** Bytes that are read at once, at most, unless one row has more. JSON may have six times as many. */
const BLOCK_BYTES = MEGABYTE / 2;

type Range = [from: number, to: number, count: number, longestRow: number, organizationId: string];
type Columns = Pick<StoredBlock, 'count' | 'values' | 'records'>;

interface Statements {
  readonly all: Database.Statement<Range, Columns>;
  readonly changes: Database.Statement<
    [firstRow: number, ...Range, after: Instant],
    Columns & { readonly rows: string }
  >;
}

/** Reads the lists of a snapshot file by blocks of records. */
export class BlockReader {
  readonly #statements: Readonly<Record<CollectionName, Statements>>;

  constructor(database: Database.Database) {
    this.#statements = byCollection((layout) => {
      const isList = (name: string) =>
        layout.columns.some(({ column, holds }) => column === name && holds === 'list');
      const values = valueColumns(layout).map((column) => (isList(column) ? `json(${column})` : column));
      // The casts make better-sqlite3 return bytes: it would decode a text into a string. Rows are read in their order,
      // and the digest would not match another one.
      const block = `count(*) AS count,
        CAST(group_concat(json_array(${values.join(', ')}), ',') || ',' AS BLOB) AS "values",
        CAST(group_concat(record, ',') || ',' AS BLOB) AS records`;
      // In a damaged tree, a range may have any number of rows. Lengths are in the header of a row: one that is too long
      // takes no memory. The plus sign keeps SQLite from an index.
      const range = `FROM (SELECT row AS found FROM ${layout.name} WHERE row >= ? AND row < ? LIMIT ?)
        CROSS JOIN ${layout.name} ON row = found WHERE ${rowBytes(layout)} <= ?
        AND octet_length(organization_id) <= ${MAX_TEXT_BYTES} AND +organization_id = ?`;
      return {
        all: database.prepare(`SELECT ${block} ${range}`),
        changes: database.prepare(
          `SELECT group_concat(row - ?) AS rows, ${block} ${range} AND changed_at > ?`,
        ),
      };
    });
  }

  /**
   * Reads a list, and checks its digest with the last block.
   * @throws RefusedSnapshot
   */
  *readList(layout: CollectionLayout, organizationId: string, list: DeclaredList): Generator<StoredBlock> {
    const digest = new ListDigest();
    let read = 0;
    for (const block of this.read(layout, organizationId, list)) {
      digest.add(block);
      read += block.count;
      if (read === list.recordCount && digest.finish() !== list.digest)
        throw damaged(`the ${layout.name} of organization "${organizationId}" do not match their digest`);
      yield block;
    }
    if (read !== list.recordCount)
      throw inconsistent(
        `${layout.name} has ${read} of the ${list.recordCount} rows of "${organizationId}" that "lists" declares, ` +
          `each of at most ${list.longestRow} bytes`,
      );
  }

  /** Reads the records of a list that changed after a time, or all. Their digest is not checked. */
  *read(
    { name }: CollectionLayout,
    organizationId: string,
    list: DeclaredList,
    after?: Instant,
  ): Generator<StoredBlock> {
    const { recordCount, longestRow } = list;
    const { all, changes } = this.#statements[name];
    const step = Math.max(1, Math.min(BLOCK_RECORDS, Math.floor(BLOCK_BYTES / longestRow)));
    for (let firstRow = 0; firstRow < recordCount; firstRow += step) {
      const from = list.firstRow + firstRow;
      const to = list.firstRow + Math.min(firstRow + step, recordCount);
      const range: Range = [from, to, to - from, longestRow, organizationId];
      const block = after === undefined ? all.get(...range) : changes.get(list.firstRow, ...range, after);
      if (block !== undefined && block.count > 0) yield { firstRow, ...block };
    }
  }
}
