import type { CollectionName } from '../../contract/operations.ts';
import type Database from 'better-sqlite3';
import type { Instant } from '../../contract/timestamp.ts';
import { decodeText, type Texts } from '../../store/index/texts.ts';
import type { Int64s, Uint32s } from '../../store/memory/shared-arrays.ts';
import { byCollection, type CollectionLayout, type ColumnLayout } from '../format/layout.ts';
import { type RunEntry, utcInstant } from '../format/manifest.ts';
import { isRun, noRun } from '../format/read-manifest.ts';
import { inconsistent, RefusedSnapshot } from '../format/refused-snapshot.ts';
import {
  allColumns,
  CHANGED_COLUMN,
  changesDigest,
  contentColumns,
  LENGTHS_COLUMN,
  RECORDS_COLUMN,
  runDigest,
} from '../format/schema.ts';
import { readCounts, readInstants, readLists, readTexts } from './column-values.ts';

export type Columns = Readonly<Record<string, Buffer<ArrayBuffer>>>;

/** Reads the runs of a snapshot file, one at a time. */
export class RunReader {
  readonly #statements: Readonly<Record<CollectionName, RunStatement>>;
  readonly #changes: Readonly<Record<CollectionName, RunStatement>>;

  constructor(database: Database.Database) {
    const statements = (columnsOf: (layout: CollectionLayout) => readonly string[]) =>
      byCollection((layout): RunStatement => {
        // The cast makes better-sqlite3 return bytes: it would decode a text column into a string.
        const values = columnsOf(layout).map((column) => `CAST(${column} AS BLOB) AS ${column}`);
        return database.prepare(`SELECT ${values.join(', ')} FROM ${layout.table} WHERE ${isRun(layout)}`);
      });
    this.#statements = statements(allColumns);
    this.#changes = statements(() => [CHANGED_COLUMN]);
  }

  /**
   * Reads a run. The caller must check its digest before it trusts the content.
   * @throws RefusedSnapshot when the run is missing or too large
   */
  read(layout: CollectionLayout, organizationId: string, entry: RunEntry): Run {
    return readRun(this.#statements, layout, organizationId, entry);
  }

  /**
   * Returns whether a record of a run has changed after a time. Reads its changes alone.
   * @param until time of the snapshot
   */
  hasChangedAfter(time: Instant, until: Instant, ...run: RunOf): boolean {
    const { times } = readRun(this.#changes, ...run).changes(until);
    return times.some(({ instant }) => instant > time);
  }
}

type RunStatement = Database.Statement<[string, number], Columns>;
type RunOf = [layout: CollectionLayout, organizationId: string, entry: RunEntry];

function readRun(statements: Readonly<Record<CollectionName, RunStatement>>, ...run: RunOf): Run {
  const [layout, organizationId, entry] = run;
  const columns = statements[layout.name].get(organizationId, entry.firstRow);
  if (columns === undefined) throw noRun(...run);
  return new Run(...run, columns);
}

/** A stored run. Its accessors decode a column, and refuse one without exactly one value for each record. */
export class Run {
  readonly layout: CollectionLayout;
  readonly entry: RunEntry;
  readonly #organizationId: string;
  readonly columns: Columns;
  /** By index column, once one is needed. */
  #values: readonly ((row: number) => string)[] | undefined;

  constructor(layout: CollectionLayout, organizationId: string, entry: RunEntry, columns: Columns) {
    this.layout = layout;
    this.entry = entry;
    this.#organizationId = organizationId;
    this.columns = columns;
  }

  get records(): Buffer {
    return this.columns[RECORDS_COLUMN];
  }

  /** The content columns as they are stored, in schema order. */
  get content(): readonly Buffer[] {
    return contentColumns(this.layout).map((column) => this.columns[column]);
  }

  get changedAt(): Buffer {
    return this.columns[CHANGED_COLUMN];
  }

  /**
   * Checks the content against its digest.
   * @throws RefusedSnapshot
   */
  checkDigest(): void {
    const { recordCount, digest } = this.entry;
    if (runDigest(this.layout.name, recordCount, this.content) !== digest) throw this.#damaged('content');
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
   * Returns the distinct times of the changes, and for each record the position of its time among them. There are none
   * when the writer declares none.
   * @param until time of the snapshot
   * @throws RefusedSnapshot also when they do not match their digest, or one is malformed or later than the snapshot
   */
  changes(until: Instant) {
    if (changesDigest(this.changedAt) !== this.entry.changesDigest) throw this.#damaged('history');
    if (this.changedAt.length === 0) return { times: [], of: new Uint32Array(0) };
    const { texts, textOf } = this.texts(CHANGED_COLUMN);
    const times = Array.from(texts.ends, (_, i) => {
      const text = decodeText(texts, i);
      const instant = utcInstant(text);
      if (instant !== undefined && instant <= until) return { text, instant };
      throw inconsistent(
        `column ${CHANGED_COLUMN} of ${this.layout.table} holds "${text}" at row ${this.entry.firstRow}, which is ` +
          'not the time of an earlier snapshot, or of this one',
      );
    });
    return { times, of: textOf };
  }

  /** Frees the memory of its columns at once. Garbage collections would leave many runs. */
  release(): void {
    for (const { buffer } of Object.values(this.columns)) buffer.transfer(0);
  }

  lengths(): Uint32s {
    return this.#decoded(LENGTHS_COLUMN, 'length', readCounts);
  }

  texts(column: string) {
    return this.#decoded(column, 'text', readTexts);
  }

  lists(column: string) {
    return this.#decoded(column, 'list of texts', readLists);
  }

  instants(column: string): Int64s {
    return this.#decoded(column, 'whole number', readInstants);
  }

  /** Returns the values of a record in the index columns, as JSON. */
  valuesAt(row: number): readonly string[] {
    this.#values ??= this.layout.columns.map((column) => this.#valuesOf(column));
    return this.#values.map((valueAt) => valueAt(row));
  }

  #valuesOf({ column, holds }: ColumnLayout): (row: number) => string {
    if (holds === 'instant') {
      const instants = this.instants(column);
      return (row) => String(instants[row]);
    }
    if (holds === 'text') {
      const { texts, textOf } = this.texts(column);
      return (row) => jsonOf(texts, textOf[row]);
    }
    const { texts, counts } = this.lists(column);
    const ends = Uint32Array.from(counts);
    for (let i = 1; i < ends.length; i++) ends[i] += ends[i - 1];
    return (row) => {
      const elements = Array.from({ length: counts[row] }, (_, i) =>
        jsonOf(texts, ends[row] - counts[row] + i),
      );
      return `[${elements.join()}]`;
    };
  }

  #decoded<T>(column: string, kind: string, decode: (column: Buffer, count: number) => T | undefined): T {
    const { firstRow, recordCount } = this.entry;
    const values = decode(this.columns[column], recordCount);
    if (values !== undefined) return values;
    throw inconsistent(
      `column ${column} of ${this.layout.table} is not a JSON array with one ${kind} for each record at row ${firstRow}`,
    );
  }
}

function jsonOf(texts: Texts, i: number): string {
  return JSON.stringify(decodeText(texts, i));
}

export function duplicateId({ table, resource }: CollectionLayout, id: string): RefusedSnapshot {
  return new RefusedSnapshot('duplicate-id', `${table} holds ${resource.id} "${id}" twice`);
}
