import Database from 'better-sqlite3';
import type { ListName } from '../../../contract/operations.ts';
import { COMMA } from '../../../store/records.ts';
import { byList, type ListLayout, STORED_LISTS } from '../../format/layout.ts';
import {
  type Manifest,
  manifestDigest,
  organizationDigests,
  permitValues,
  rowCount,
  type RunEntry,
} from '../../format/manifest.ts';
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
} from '../../format/schema.ts';

/** SQLite's largest page size, since a run takes about a megabyte. */
const PAGE_BYTES = 65_536;

/** A record as the snapshot writer receives it. */
export interface StagedRecord {
  /** Position of the organization in the order of the ids. */
  readonly organization: number;
  /** Whether the id begins a run. */
  readonly beginsRun: boolean;
  /** Column values as JSON, in the order of the layout. */
  readonly values: readonly string[];
  /** The JSON text, or its bytes in UTF-8. */
  readonly json: string | Buffer;
}

/** The content columns of a run, and its entry in the manifest without the place. */
interface StoredRun {
  readonly entry: Omit<RunEntry, 'firstRow'>;
  /** In schema order. */
  readonly content: readonly Buffer[];
}

/** A run of another snapshot, to be copied as it is. */
export interface CopiedRun {
  /** Position of the organization in the order of the ids. */
  readonly organization: number;
  readonly run: StoredRun;
}

interface WrittenOrganization {
  readonly organizationId: string;
  readonly name: string;
  readonly runs: Record<ListName, RunEntry[]>;
}

/** Writes a snapshot file that no other process reads yet. */
export class SnapshotWriter {
  /** Number of runs so far. */
  readonly runs = { copied: 0, written: 0 };
  readonly #database: Database.Database;
  readonly #organizations: readonly WrittenOrganization[];
  /** Space for the records of the current run. Strings would live long enough to reach V8's old generation. */
  readonly #records = Buffer.allocUnsafeSlow(MAX_RUN_BYTES);

  /**
   * @param path a file that does not exist yet
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
      return { organizationId, name, runs: byList(() => []) };
    });
  }

  /** Writes a list, by organization and in list order. Yields the number of records after each run. */
  *write(layout: ListLayout, records: Iterable<StagedRecord | CopiedRun>): Generator<number> {
    const place = PLACE_COLUMNS.map(() => '?');
    const content = contentColumns(layout.table).map(() => 'CAST(? AS TEXT)');
    const insert = this.#database.prepare(
      `INSERT INTO ${layout.table} VALUES (${[...place, ...content].join(', ')})`,
    );
    const write = (
      kind: keyof typeof this.runs,
      organization: number,
      { entry, content }: StoredRun,
    ): number => {
      const { organizationId, runs } = this.#organizations[organization];
      const written = runs[layout.name];
      const firstRow = rowCount(written);
      insert.run(organizationId, firstRow, ...content);
      written.push({ ...entry, firstRow });
      this.runs[kind]++;
      return entry.recordCount;
    };
    let growing: GrowingRun | undefined;
    for (const next of records) {
      if ('json' in next && growing?.add(next) === true) continue;
      if (growing !== undefined) yield write('written', growing.organization, growing.stored());
      growing = undefined;
      if ('json' in next) {
        growing = new GrowingRun(layout, next.organization, this.#records);
        growing.add(next);
      } else yield write('copied', next.organization, next.run);
    }
    if (growing !== undefined) yield write('written', growing.organization, growing.stored());
  }

  /** Returns the runs of a list of an organization that were written so far. */
  runsOf({ name }: ListLayout, organization: number): readonly RunEntry[] {
    return this.#organizations[organization].runs[name];
  }

  /** Completes and closes the file. */
  finish(snapshotId: string, producedAt: string): void {
    const insertOrganization = this.#database.prepare('INSERT INTO organizations VALUES (?, ?, ?, ?)');
    const insertRun = this.#database.prepare('INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?)');
    const organizations = this.#organizations.map((organization) => {
      return { ...organization, ...organizationDigests(organization.runs) };
    });
    for (const { organizationId, name, contentDigest, deletionsDigest, runs } of organizations) {
      insertOrganization.run(organizationId, name, contentDigest, deletionsDigest);
      for (const { name: list } of STORED_LISTS) {
        for (const { firstRow, recordCount, recordBytes, digest } of runs[list])
          insertRun.run(organizationId, list, firstRow, recordCount, recordBytes, digest);
      }
    }
    const manifest: Manifest = { snapshotId, producedAt, permits: [], organizations };
    this.#database
      .prepare('INSERT INTO snapshot VALUES (?, ?, ?, ?, ?)')
      .run(snapshotId, producedAt, ...permitValues(manifest.permits), manifestDigest(manifest));
    this.#database.exec('COMMIT');
    this.#database.close();
  }

  /** Closes the file, complete or not. */
  close(): void {
    this.#database.close();
  }
}

/** Collects consecutive records of one organization for a run. */
class GrowingRun {
  readonly organization: number;
  readonly #layout: ListLayout;
  /** Size of the records, commas included. */
  #recordBytes = 0;
  readonly #lengths: number[] = [];
  readonly #values: readonly (string | number)[][];
  /** Column sizes without the closing bracket. Repeated texts count in full. */
  #columnBytes: readonly number[];
  /** For each text column, the position of the first occurrence of each text. */
  readonly #positions: readonly (Map<string, number> | undefined)[];
  readonly #records: Buffer;

  /** @param records space of `MAX_RUN_BYTES`, which each run overwrites */
  constructor(layout: ListLayout, organization: number, records: Buffer) {
    this.#layout = layout;
    this.organization = organization;
    this.#records = records;
    this.#values = layout.columns.map(() => []);
    this.#columnBytes = layout.columns.map(() => 1);
    this.#positions = layout.columns.map(({ holds }) => (holds === 'text' ? new Map() : undefined));
  }

  get count(): number {
    return this.#lengths.length;
  }

  /** Adds a record unless it belongs to the next run. Returns whether it was added. The first record always fits. */
  add({ organization, beginsRun, json, values }: StagedRecord): boolean {
    const start = this.count === 0 ? 0 : this.#recordBytes + 1;
    const length = Buffer.byteLength(json);
    const columnBytes = values.map((value, i) => this.#columnBytes[i] + 1 + Buffer.byteLength(value));
    const isFull =
      this.count === MAX_RUN_RECORDS ||
      start + length > MAX_RUN_BYTES ||
      columnBytes.some((bytes) => bytes > MAX_RUN_BYTES);
    if (this.count > 0 && (beginsRun || organization !== this.organization || isFull)) return false;

    for (const [i, value] of values.entries()) this.#values[i].push(this.#element(i, value));
    if (start > 0) this.#records[start - 1] = COMMA;
    if (typeof json === 'string') this.#records.write(json, start);
    else json.copy(this.#records, start);
    this.#recordBytes = start + length;
    this.#columnBytes = columnBytes;
    this.#lengths.push(length);
    return true;
  }

  /** Returns the element that represents a value: for a repeated text, the position of its first occurrence. */
  #element(column: number, value: string): string | number {
    const positions = this.#positions[column];
    if (positions === undefined) return value;
    const position = positions.get(value);
    if (position === undefined) positions.set(value, this.count);
    return position ?? value;
  }

  /**
   * Returns the run as it is stored. The digest covers the bytes in memory, so that verification detects a failed
   * write.
   */
  stored(): StoredRun {
    const content = this.#content();
    const digest = runDigest(this.#layout.name, this.count, content);
    return { entry: { recordCount: this.count, recordBytes: this.#recordBytes, digest }, content };
  }

  /** Returns the content columns in schema order. */
  #content(): Buffer[] {
    const values = new Map([
      [LENGTHS_COLUMN, jsonArray(this.#lengths)],
      ...this.#layout.columns.map(({ column }, i) => [column, jsonArray(this.#values[i])] as const),
      [RECORDS_COLUMN, this.#records.subarray(0, this.#recordBytes)],
    ]);
    return contentColumns(this.#layout.table).map((column) => {
      const value = values.get(column);
      if (value === undefined) throw new TypeError(`no values for column ${column}`);
      return value;
    });
  }
}

/** Joins JSON elements into a JSON array. */
function jsonArray(elements: readonly (string | number)[]): Buffer {
  return Buffer.from(`[${elements.join(',')}]`);
}
