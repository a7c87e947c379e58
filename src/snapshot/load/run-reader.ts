import type Database from 'better-sqlite3';
import type { Bytes, Int64s, Uint32s } from '../../store/memory/shared-arrays.ts';
import { byList, DELETIONS, type ListLayout, type ListName } from '../format/layout.ts';
import type { RunEntry } from '../format/manifest.ts';
import { inconsistent, RefusedSnapshot } from '../format/refused-snapshot.ts';
import {
  CHANGED_COLUMN,
  changesDigest,
  contentColumns,
  LENGTHS_COLUMN,
  MAX_RUN_BYTES,
  RECORDS_COLUMN,
  runDigest,
} from '../format/schema.ts';
import {
  type Lists,
  readCounts,
  readInstants,
  readLists,
  readTexts,
  type TextValues,
} from './column-values.ts';

/** The content columns of a run by name, in schema order. */
type Columns = Readonly<Record<string, Buffer>>;
/** Those and `changed_at`, as they are stored. */
type Row = Readonly<Record<string, Buffer | null>>;

/** Reads the runs of a snapshot file, one at a time. */
export class RunReader {
  readonly #statements: Readonly<Record<ListName, Database.Statement<[string, number], Row>>>;

  constructor(database: Database.Database) {
    this.#statements = byList(({ name, table }) => {
      const columns = [...contentColumns(table), ...(name === DELETIONS.name ? [] : [CHANGED_COLUMN])];
      // The cast makes better-sqlite3 return bytes: it would decode a text column into a string.
      const values = columns.map((column) => `CAST(${column} AS BLOB) AS ${column}`);
      // octet_length() reads only the header of a row, so that an oversized column takes no memory.
      const isTooLong = columns.map((column) => `octet_length(${column}) > ${MAX_RUN_BYTES}`);
      return database.prepare(
        `SELECT ${values.join(', ')} FROM ${table}
         WHERE organization_id = ? AND first_row = ? AND (${isTooLong.join(' OR ')}) IS NOT TRUE`,
      );
    });
  }

  /**
   * Reads a run. The caller must check its digest before it trusts the content.
   * @throws RefusedSnapshot when the run is missing or too large
   */
  read(layout: ListLayout, organizationId: string, entry: RunEntry): Run {
    const { name, table } = layout;
    const { firstRow } = entry;
    const row = this.#statements[name].get(organizationId, firstRow);
    if (row === undefined) {
      throw inconsistent(
        `${table} has no valid run of "${organizationId}" at row ${firstRow}: ` +
          `it is missing, or a column exceeds ${MAX_RUN_BYTES} bytes`,
      );
    }
    const columns: Record<string, Buffer> = {};
    for (const column in row) {
      const value = row[column];
      if (value !== null) columns[column] = value;
      else if (column !== CHANGED_COLUMN)
        throw inconsistent(`column ${column} of ${table} is NULL at row ${firstRow}`);
    }
    const { [CHANGED_COLUMN]: changedAt, ...content } = columns;
    return new Run(layout, organizationId, entry, content, changedAt);
  }
}

/** A stored run. Its accessors decode a column, and refuse one without exactly one value for each record. */
export class Run {
  readonly layout: ListLayout;
  readonly entry: RunEntry;
  /** The column `changed_at` as it is stored, if any. */
  readonly changedAt: Buffer | undefined;
  readonly #organizationId: string;
  readonly #columns: Columns;

  /** @param columns those of the content */
  constructor(
    layout: ListLayout,
    organizationId: string,
    entry: RunEntry,
    columns: Columns,
    changedAt?: Buffer,
  ) {
    this.layout = layout;
    this.entry = entry;
    this.#organizationId = organizationId;
    this.#columns = columns;
    this.changedAt = changedAt;
  }

  get records(): Buffer {
    return this.column(RECORDS_COLUMN);
  }

  /** The content columns as they are stored, in schema order. */
  get content(): readonly Buffer[] {
    return Object.values(this.#columns);
  }

  column(column: string): Buffer {
    return this.#columns[column];
  }

  /**
   * Checks the content against its digest.
   * @param records the bytes to digest as the records: a copy that will be served
   * @throws RefusedSnapshot
   */
  checkDigest(records: Bytes = this.records): void {
    const { recordCount, digest } = this.entry;
    const { name } = this.layout;
    const content = Object.values<Bytes>({ ...this.#columns, [RECORDS_COLUMN]: records });
    if (runDigest(name, recordCount, content) !== digest) throw this.#damaged('content');
  }

  #damaged(part: string): RefusedSnapshot {
    const { firstRow, recordCount } = this.entry;
    return new RefusedSnapshot(
      'damaged',
      `the ${part} of organization "${this.#organizationId}" does not match its digest: ${this.layout.name} ` +
        `from row ${firstRow} to ${firstRow + recordCount - 1}; the file is damaged; copy or build it again`,
    );
  }

  /**
   * Returns the times of the column `changed_at`, ISO 8601; undefined without it.
   * @throws RefusedSnapshot also when the column does not match its digest
   */
  changes(): TextValues | undefined {
    const digest = this.changedAt === undefined ? null : changesDigest(this.changedAt);
    if (digest !== this.entry.changesDigest) throw this.#damaged('history');
    return this.changedAt && this.#decoded(this.changedAt, CHANGED_COLUMN, 'text', readTexts);
  }

  /** Returns the length of each record in bytes. */
  lengths(): Uint32s {
    return this.#decodedColumn(LENGTHS_COLUMN, 'length', readCounts);
  }

  texts(column: string): TextValues {
    return this.#decodedColumn(column, 'text', readTexts);
  }

  lists(column: string): Lists {
    return this.#decodedColumn(column, 'list of texts', readLists);
  }

  instants(column: string): Int64s {
    return this.#decodedColumn(column, 'whole number', readInstants);
  }

  #decodedColumn<T>(
    column: string,
    kind: string,
    decode: (column: Buffer, count: number) => T | undefined,
  ): T {
    return this.#decoded(this.column(column), column, kind, decode);
  }

  #decoded<T>(
    bytes: Buffer,
    column: string,
    kind: string,
    decode: (column: Buffer, count: number) => T | undefined,
  ): T {
    const { firstRow, recordCount } = this.entry;
    const values = decode(bytes, recordCount);
    if (values !== undefined) return values;
    throw inconsistent(
      `column ${column} of ${this.layout.table} is not a JSON array with one ${kind} for each record at row ${firstRow}`,
    );
  }
}

export function duplicateId({ table, resource }: ListLayout, id: string): RefusedSnapshot {
  return new RefusedSnapshot('duplicate-id', `${table} holds ${resource.id} "${id}" twice`);
}
