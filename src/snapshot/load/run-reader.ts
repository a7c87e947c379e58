import type Database from 'better-sqlite3';
import type { ListName } from '../../contract/operations.ts';
import type { Bytes, Int64s, Uint32s } from '../../store/memory/shared-arrays.ts';
import { byList, type ListLayout } from '../format/layout.ts';
import type { RunEntry } from '../format/manifest.ts';
import { RefusedSnapshot } from '../format/refused-snapshot.ts';
import {
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

/** Reads the runs of a snapshot file, one at a time. */
export class RunReader {
  readonly #statements: Readonly<Record<ListName, Database.Statement<[string, number], unknown[]>>>;

  constructor(database: Database.Database) {
    this.#statements = byList(({ table }) => {
      const columns = contentColumns(table);
      // The cast makes better-sqlite3 return bytes: it would decode a text column into a string.
      const values = columns.map((column) => `CAST(${column} AS BLOB)`);
      // octet_length() reads only the header of a row, so that an oversized column takes no memory.
      const isTooLong = columns.map((column) => `octet_length(${column}) > ${MAX_RUN_BYTES}`);
      return database
        .prepare<[string, number], unknown[]>(
          `SELECT ${values.join(', ')} FROM ${table}
           WHERE organization_id = ? AND first_row = ? AND (${isTooLong.join(' OR ')}) IS NOT TRUE`,
        )
        .raw();
    });
  }

  /**
   * Reads a run. The caller must check its digest before it trusts the content.
   * @throws RefusedSnapshot when the run is missing or too large
   */
  read(layout: ListLayout, organizationId: string, entry: RunEntry): Run {
    const { name, table } = layout;
    const { firstRow } = entry;
    const values = this.#statements[name].get(organizationId, firstRow);
    if (values === undefined) {
      throw new RefusedSnapshot(
        'inconsistent',
        `${table} has no valid run of "${organizationId}" at row ${firstRow}: ` +
          `it is missing, or a column exceeds ${MAX_RUN_BYTES} bytes`,
      );
    }
    const columns = contentColumns(table).map((column, i): [string, Buffer] => {
      const value = values[i];
      if (Buffer.isBuffer(value)) return [column, value];
      throw new RefusedSnapshot('inconsistent', `column ${column} of ${table} is NULL at row ${firstRow}`);
    });
    return new Run(layout, organizationId, entry, new Map(columns));
  }
}

/** A stored run. Its accessors decode a column, and refuse one without exactly one value for each record. */
export class Run {
  readonly entry: RunEntry;
  readonly #layout: ListLayout;
  readonly #organizationId: string;
  /** The content columns by name, in schema order. */
  readonly #columns: ReadonlyMap<string, Buffer>;

  constructor(
    layout: ListLayout,
    organizationId: string,
    entry: RunEntry,
    columns: ReadonlyMap<string, Buffer>,
  ) {
    this.entry = entry;
    this.#layout = layout;
    this.#organizationId = organizationId;
    this.#columns = columns;
  }

  get records(): Buffer {
    return this.column(RECORDS_COLUMN);
  }

  /** The content columns as they are stored, in schema order. */
  get content(): readonly Buffer[] {
    return [...this.#columns.values()];
  }

  /**
   * Checks the content against its digest.
   * @param records the bytes to digest as the records: a copy that will be served
   * @throws RefusedSnapshot
   */
  checkDigest(records: Bytes = this.records): void {
    const { firstRow, recordCount, digest } = this.entry;
    const { name } = this.#layout;
    const columns = new Map<string, Bytes>(this.#columns).set(RECORDS_COLUMN, records);
    if (runDigest(name, recordCount, [...columns.values()]) === digest) return;
    throw new RefusedSnapshot(
      'damaged',
      `the content of organization "${this.#organizationId}" does not match its digest: ` +
        `${name} from row ${firstRow} to ${firstRow + recordCount - 1}; the file is damaged; copy or build it again`,
    );
  }

  /** Returns the length of each record in bytes. */
  lengths(): Uint32s {
    const lengths = readCounts(this.column(LENGTHS_COLUMN), this.entry.recordCount);
    return lengths ?? this.#refuse(LENGTHS_COLUMN, 'length');
  }

  texts(column: string): TextValues {
    return readTexts(this.column(column), this.entry.recordCount) ?? this.#refuse(column, 'text');
  }

  lists(column: string): Lists {
    return readLists(this.column(column), this.entry.recordCount) ?? this.#refuse(column, 'list of texts');
  }

  /** Decodes instants into `target`, from row `at` on: by default at the rows of the run. */
  readInstants(column: string, target: Int64s, at = this.entry.firstRow): void {
    if (!readInstants(this.column(column), this.entry.recordCount, target, at))
      this.#refuse(column, 'whole number');
  }

  /** Returns a content column as it is stored. */
  column(column: string): Buffer {
    const value = this.#columns.get(column);
    if (value === undefined) throw new TypeError(`no column ${column}`);
    return value;
  }

  #refuse(column: string, value: string): never {
    throw new RefusedSnapshot(
      'inconsistent',
      `column ${column} of ${this.#layout.table} is not a JSON array with one ${value} for each record ` +
        `at row ${this.entry.firstRow}`,
    );
  }
}

/** Returns the refusal of an id that occurs twice. */
export function duplicateId({ table, resource }: ListLayout, id: string): RefusedSnapshot {
  return new RefusedSnapshot('duplicate-id', `${table} holds ${resource.id} "${id}" twice`);
}
