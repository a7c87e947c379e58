import Database from 'better-sqlite3';
import type { CollectionName } from '../../contract/operations.ts';
import { COMMA } from '../../store/records.ts';
import { byCollection, type CollectionLayout, COLLECTIONS } from '../format/layout.ts';
import {
  type Manifest,
  manifestDigest,
  organizationDigest,
  permitValues,
  rowCount,
  type RunEntry,
} from '../format/manifest.ts';
import {
  APPLICATION_ID,
  contentColumns,
  FORMAT_VERSION,
  LENGTHS_COLUMN,
  MAX_RUN_BYTES,
  MAX_RUN_RECORDS,
  PLACE_COLUMNS,
  RECORDS_COLUMN,
  runDigest,
  SCHEMA,
} from '../format/schema.ts';
import type { StagedRecord } from './staging.ts';

/** The largest page size of SQLite. A run has about a megabyte, which SQLite reads page by page. */
const PAGE_BYTES = 65_536;

interface WrittenOrganization {
  readonly organizationId: string;
  readonly name: string;
  readonly runs: Record<CollectionName, RunEntry[]>;
}

/** Writes a snapshot file, which no other process reads yet. */
export class SnapshotWriter {
  readonly #database: Database.Database;
  readonly #organizations: readonly WrittenOrganization[];
  /** Room for the records of the current run: as texts, they would live too long for the nursery of the collector. */
  readonly #records = Buffer.allocUnsafeSlow(MAX_RUN_BYTES);

  /**
   * @param path a file that is not there yet
   * @param organizations names by id, in the order of the ids
   */
  constructor(path: string, organizations: ReadonlyMap<string, string>) {
    this.#database = new Database(path);
    this.#database.pragma(`page_size = ${PAGE_BYTES}`);
    this.#database.pragma('journal_mode = OFF');
    this.#database.pragma('synchronous = OFF');
    this.#database.pragma('locking_mode = EXCLUSIVE');
    this.#database.exec(SCHEMA);
    this.#database.pragma(`application_id = ${APPLICATION_ID}`);
    this.#database.pragma(`user_version = ${FORMAT_VERSION}`);
    this.#database.exec('BEGIN');
    this.#organizations = Array.from(organizations, ([organizationId, name]) => {
      return { organizationId, name, runs: byCollection(() => []) };
    });
  }

  /**
   * Writes the records of a collection, which come in list order, organization after organization.
   * Yields after each run how many records it has.
   */
  *write(layout: CollectionLayout, records: Iterable<StagedRecord>): Generator<number> {
    const placeholders = [...PLACE_COLUMNS, ...contentColumns(layout.table).map(() => 'CAST(? AS TEXT)')];
    const insert = this.#database.prepare(
      `INSERT INTO ${layout.table} VALUES (${placeholders.fill('?', 0, PLACE_COLUMNS.length).join(', ')})`,
    );
    let run: GrowingRun | undefined;
    for (const record of records) {
      if (run?.isEndedBy(record) === true) {
        this.#writeRun(insert, run);
        yield run.count;
        run = undefined;
      }
      run ??= new GrowingRun(layout, record.organization, this.#records);
      run.add(record);
    }
    if (run !== undefined) {
      this.#writeRun(insert, run);
      yield run.count;
    }
  }

  #writeRun(insert: Database.Statement, run: GrowingRun): void {
    const { organizationId, runs } = this.#organizations[run.organization];
    const written = runs[run.layout.name];
    const firstRow = rowCount(written);
    // Digested before they are written, so that a fault of the writing shows.
    const columns = run.columns();
    const digest = runDigest(run.layout.name, run.count, columns);
    insert.run(organizationId, firstRow, ...columns);
    written.push({ firstRow, recordCount: run.count, recordBytes: run.recordBytes, digest });
  }

  /** Completes and closes the file. */
  finish(snapshotId: string, producedAt: string): void {
    const insertOrganization = this.#database.prepare('INSERT INTO organizations VALUES (?, ?, ?)');
    const insertRun = this.#database.prepare('INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?)');
    const organizations = this.#organizations.map((organization) => {
      return { ...organization, contentDigest: organizationDigest(organization.runs) };
    });
    for (const { organizationId, name, contentDigest, runs } of organizations) {
      insertOrganization.run(organizationId, name, contentDigest);
      for (const { name: collection } of COLLECTIONS) {
        for (const { firstRow, recordCount, recordBytes, digest } of runs[collection])
          insertRun.run(organizationId, collection, firstRow, recordCount, recordBytes, digest);
      }
    }
    const manifest: Manifest = { snapshotId, producedAt, permits: [], organizations };
    this.#database
      .prepare('INSERT INTO snapshot VALUES (?, ?, ?, ?, ?)')
      .run(snapshotId, producedAt, ...permitValues(manifest.permits), manifestDigest(manifest));
    this.#database.exec('COMMIT');
    this.#database.close();
  }

  /** Releases the file, complete or not. */
  close(): void {
    this.#database.close();
  }
}

/** Gathers consecutive records of one organization until they make a run. */
export class GrowingRun {
  readonly layout: CollectionLayout;
  readonly organization: number;
  /** Length of the records, commas included. */
  recordBytes = 0;
  readonly #lengths: number[] = [];
  readonly #values: readonly (string | number)[][];
  /** Length of each column but for a bracket; a repeated text counts as often as it comes. */
  readonly #columnBytes: number[];
  /** For each column of texts, the position at which a text appeared first. */
  readonly #positions: readonly (Map<string, number> | undefined)[];
  readonly #records: Buffer;

  /** @param records room for the records of a run: `MAX_RUN_BYTES`, which each run overwrites */
  constructor(layout: CollectionLayout, organization: number, records: Buffer) {
    this.layout = layout;
    this.organization = organization;
    this.#records = records;
    this.#values = layout.columns.map(() => []);
    this.#columnBytes = layout.columns.map(() => 1);
    this.#positions = layout.columns.map(({ holds }) => (holds === 'text' ? new Map() : undefined));
  }

  get count(): number {
    return this.#lengths.length;
  }

  /** Whether the next record does not belong to this run. */
  isEndedBy({ organization, beginsRun, json, values }: StagedRecord): boolean {
    return (
      beginsRun ||
      organization !== this.organization ||
      this.count === MAX_RUN_RECORDS ||
      this.recordBytes + 1 + Buffer.byteLength(json) > MAX_RUN_BYTES ||
      this.#columnBytes.some((bytes, i) => bytes + 1 + Buffer.byteLength(values[i]) > MAX_RUN_BYTES)
    );
  }

  add({ values, json }: StagedRecord): void {
    for (const [i, value] of values.entries()) {
      this.#columnBytes[i] += 1 + Buffer.byteLength(value);
      this.#values[i].push(this.#element(i, value));
    }
    if (this.count > 0) this.#records[this.recordBytes++] = COMMA;
    const length = this.#records.write(json, this.recordBytes);
    this.#lengths.push(length);
    this.recordBytes += length;
  }

  /** Returns the element of a column that stands for a value: of a text that is there already, its position. */
  #element(column: number, value: string): string | number {
    const positions = this.#positions[column];
    if (positions === undefined) return value;
    const position = positions.get(value);
    if (position === undefined) positions.set(value, this.count);
    return position ?? value;
  }

  /** Returns the content columns, in the order of the schema. */
  columns(): Buffer[] {
    const values = new Map([
      [LENGTHS_COLUMN, arrayOf(this.#lengths)],
      ...this.layout.columns.map(({ column }, i) => [column, arrayOf(this.#values[i])] as const),
      [RECORDS_COLUMN, this.#records.subarray(0, this.recordBytes)],
    ]);
    return contentColumns(this.layout.table).map((column) => {
      const value = values.get(column);
      if (value === undefined) throw new TypeError(`no values for column ${column}`);
      return value;
    });
  }
}

/** Returns a JSON array of elements that are JSON. */
function arrayOf(elements: readonly (string | number)[]): Buffer {
  return Buffer.from(`[${elements.join(',')}]`);
}
