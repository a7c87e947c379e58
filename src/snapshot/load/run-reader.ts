import type Database from 'better-sqlite3';
import type { CollectionName } from '../../contract/operations.ts';
import type { Int64s, Uint32s } from '../../store/memory/shared-arrays.ts';
import { byCollection, type CollectionLayout } from '../format/layout.ts';
import type { RunEntry } from '../format/manifest.ts';
import { RefusedSnapshot } from '../format/refused-snapshot.ts';
import { contentColumns, LENGTHS_COLUMN, MAX_RUN_BYTES, runDigest } from '../format/schema.ts';
import {
  type Lists,
  readCounts,
  readInstants,
  readLists,
  readTexts,
  type TextValues,
} from './column-values.ts';

/** The content of a run, as it is in the file: the bytes of each column by its name, in the order of the schema. */
export type Run = ReadonlyMap<string, Buffer>;

/** Reads the runs of a snapshot file, one at a time. */
export class RunReader {
  readonly #statements: Readonly<Record<CollectionName, Database.Statement<[string, number], unknown[]>>>;

  constructor(database: Database.Database) {
    this.#statements = byCollection(({ table }) => {
      const columns = contentColumns(table);
      // A text column would be decoded into a string.
      const values = columns.map((column) => `CAST(${column} AS BLOB)`);
      // octet_length() reads the header of a row alone, so that a column that is too long takes no memory.
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
   * Reads a run. Its content counts only once its digest was checked.
   * @throws RefusedSnapshot when it is not there
   */
  read({ name, table }: CollectionLayout, organizationId: string, { firstRow }: RunEntry): Run {
    const values = this.#statements[name].get(organizationId, firstRow);
    if (values === undefined) {
      throw new RefusedSnapshot(
        'inconsistent',
        `${table} has no run of "${organizationId}" at row ${firstRow}, ` +
          `or one with more than ${MAX_RUN_BYTES} bytes in a column`,
      );
    }
    return new Map(
      contentColumns(table).map((column, i) => {
        const value = values[i];
        if (Buffer.isBuffer(value)) return [column, value];
        throw new RefusedSnapshot('inconsistent', `column ${column} of ${table} is NULL at row ${firstRow}`);
      }),
    );
  }
}

/** Returns a column of a run. */
export function columnOf(run: Run, column: string): Buffer {
  const value = run.get(column);
  if (value === undefined) throw new TypeError(`no column ${column}`);
  return value;
}

/** @throws RefusedSnapshot when the content of a run does not match its digest */
export function checkRunDigest(
  { name }: CollectionLayout,
  organizationId: string,
  { firstRow, recordCount, digest }: RunEntry,
  run: Run,
): void {
  if (runDigest(name, recordCount, [...run.values()]) === digest) return;
  throw new RefusedSnapshot(
    'damaged',
    `the content of organization "${organizationId}" does not match its digest: ` +
      `${name} from row ${firstRow} to ${firstRow + recordCount - 1}; the file is damaged; copy or build it again`,
  );
}

/** Returns the refusal of an id that comes again. */
export function duplicateId({ table, resource }: CollectionLayout, id: string): RefusedSnapshot {
  return new RefusedSnapshot('duplicate-id', `${table} holds ${resource.id} "${id}" twice`);
}

/*
 * The columns of a run as values, one for each record.
 * Each function throws RefusedSnapshot when the column holds anything else.
 */

/** Returns the lengths of the records in bytes. */
export function lengthsOf(layout: CollectionLayout, entry: RunEntry, run: Run): Uint32s {
  return shaped(
    layout,
    LENGTHS_COLUMN,
    'length',
    entry,
    readCounts(columnOf(run, LENGTHS_COLUMN), entry.recordCount),
  );
}

export function textsOf(layout: CollectionLayout, column: string, entry: RunEntry, run: Run): TextValues {
  return shaped(layout, column, 'text', entry, readTexts(columnOf(run, column), entry.recordCount));
}

export function listsOf(layout: CollectionLayout, column: string, entry: RunEntry, run: Run): Lists {
  return shaped(layout, column, 'list of texts', entry, readLists(columnOf(run, column), entry.recordCount));
}

/** Reads instants into their rows of `target`. */
export function takeInstants(
  layout: CollectionLayout,
  column: string,
  entry: RunEntry,
  run: Run,
  target: Int64s,
): void {
  const isRead = readInstants(columnOf(run, column), entry.recordCount, target, entry.firstRow);
  shaped(layout, column, 'whole number', entry, isRead || undefined);
}

function shaped<T>(
  { table }: CollectionLayout,
  column: string,
  value: string,
  { firstRow }: RunEntry,
  values: T | undefined,
): T {
  if (values !== undefined) return values;
  throw new RefusedSnapshot(
    'inconsistent',
    `column ${column} of ${table} is not a JSON array with one ${value} for each record at row ${firstRow}`,
  );
}
