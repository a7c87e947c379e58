import type Database from 'better-sqlite3';
import { MEGABYTE } from '../../../store/memory/shared-arrays.ts';
import { COMMA } from '../../../store/record-bytes.ts';
import { byList, DELETIONS, type ListLayout, type ListName, STORED_LISTS } from '../../format/layout.ts';
import {
  type Ancestor,
  type Manifest,
  manifestDigest,
  organizationDigests,
  permitValues,
  rowCount,
  type RunEntry,
} from '../../format/manifest.ts';
import {
  APPLICATION_ID,
  changesDigest,
  contentColumns,
  FORMAT_VERSION,
  MAX_RUN_BYTES,
  MAX_RUN_RECORDS,
  runDigest,
  SCHEMA,
} from '../../format/schema.ts';
import { sync } from '../../format/snapshot-file.ts';
import { newDatabase, type StagedRecord } from '../staging/staging-file.ts';
import type { Run } from '../../load/run-reader.ts';
import type { EarlierRun } from './earlier-run.ts';
import type { Span } from './merge-records.ts';

/** Bytes of records after which a flush begins. */
const FLUSH_BYTES = 64 * MEGABYTE;

interface WrittenOrganization {
  readonly organizationId: string;
  readonly name: string;
  readonly runs: Record<ListName, RunEntry[]>;
}

/** Writes a new snapshot file, which no other process reads yet. */
export class SnapshotWriter {
  readonly runs = { copied: 0, written: 0 };
  /** Number of records that are new or differ from their earlier selves, by collection. */
  readonly changed = byList(() => 0);
  readonly #producedAt: string;
  readonly #path: string;
  readonly #database: Database.Database;
  readonly #organizations: readonly WrittenOrganization[];
  /** Space for the records of the current run. Strings would live long enough to reach V8's old generation. */
  readonly #records = Buffer.allocUnsafeSlow(MAX_RUN_BYTES);
  #unflushedBytes = 0;
  /** Flushes of the file, one after the other. The disk works while the rest is written, so the last one is short. */
  #flushed = Promise.resolve();

  /**
   * @param organizations names by id, in the order of the ids
   * @param producedAt ISO 8601, UTC
   */
  constructor(path: string, organizations: ReadonlyMap<string, string>, producedAt: string) {
    this.#path = path;
    this.#producedAt = producedAt;
    this.#database = newDatabase(path);
    this.#database.exec(SCHEMA);
    this.#database.pragma(`application_id = ${APPLICATION_ID}`);
    this.#database.pragma(`user_version = ${FORMAT_VERSION}`);
    this.#database.exec('BEGIN');
    this.#organizations = Array.from(organizations, ([organizationId, name]) => {
      return { organizationId, name, runs: byList(() => []) };
    });
  }

  /**
   * Cuts a list into runs, and writes them. Yields the number of records after each run.
   * @param records by organization and in list order
   */
  *write(layout: ListLayout, records: Iterable<StagedRecord | Span>): Generator<number> {
    const columns = contentColumns(layout.table).map(() => 'CAST(? AS TEXT)');
    if (layout.name !== DELETIONS.name) columns.unshift('CAST(? AS TEXT)');
    const insert = this.#database.prepare(`INSERT INTO ${layout.table} VALUES (?, ?, ${columns.join(', ')})`);
    let run: GrowingRun | undefined;
    for (const next of records) {
      if (!('run' in next) && next.changedAt === undefined) this.changed[layout.name]++;
      let rest = run === undefined ? next : run.add(next);
      while (rest !== undefined) {
        if (run !== undefined) yield this.#writeRun(insert, layout, run);
        run = new GrowingRun(layout, organizationOf(rest), this.#records, this.#producedAt);
        rest = run.add(rest);
      }
    }
    if (run !== undefined) yield this.#writeRun(insert, layout, run);
  }

  #writeRun(insert: Database.Statement, { name }: ListLayout, run: GrowingRun): number {
    const { organizationId, runs } = this.#organizations[run.organization];
    const firstRow = rowCount(runs[name]);
    const { entry, changedAt, content } = run.stored();
    insert.run(organizationId, firstRow, ...(name === DELETIONS.name ? [] : [changedAt ?? null]), ...content);
    runs[name].push({ ...entry, firstRow });
    this.runs[run.copied === undefined ? 'written' : 'copied']++;
    this.#flush(entry.recordBytes);
    return entry.recordCount;
  }

  #flush(bytes: number): void {
    this.#unflushedBytes += bytes;
    if (this.#unflushedBytes < FLUSH_BYTES) return;
    this.#unflushedBytes = 0;
    this.#flushed = this.#flushed.then(() => sync(this.#path));
    // The error is thrown at the end.
    this.#flushed.catch(() => undefined);
  }

  /**
   * Completes, closes and flushes the file.
   * @param ancestors earliest first
   * @param sinceOf returns the time with which the history of an organization began; undefined for this snapshot
   */
  async finish(
    snapshotId: string,
    ancestors: readonly Ancestor[],
    sinceOf: (organizationId: string) => string | undefined,
  ): Promise<void> {
    const producedAt = this.#producedAt;
    const insertAncestor = this.#database.prepare('INSERT INTO ancestors VALUES (?, ?)');
    const insertOrganization = this.#database.prepare('INSERT INTO organizations VALUES (?, ?, ?, ?, ?)');
    const insertRun = this.#database.prepare('INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, ?)');
    for (const one of ancestors) insertAncestor.run(one.snapshotId, one.producedAt);
    const organizations = this.#organizations.map((organization) => {
      const since = sinceOf(organization.organizationId) ?? producedAt;
      return { ...organization, since, ...organizationDigests(organization.runs, since) };
    });
    for (const { organizationId, name, contentDigest, since, historyDigest, runs } of organizations) {
      insertOrganization.run(organizationId, name, contentDigest, since, historyDigest);
      for (const { name: list } of STORED_LISTS) {
        for (const { firstRow, recordCount, recordBytes, digest, changesDigest: changes } of runs[list])
          insertRun.run(organizationId, list, firstRow, recordCount, recordBytes, digest, changes);
      }
    }
    const hasCanonicalRuns = true;
    const manifest: Manifest = {
      snapshotId,
      producedAt,
      hasCanonicalRuns,
      permits: [],
      ancestors,
      organizations,
    };
    this.#database
      .prepare('INSERT INTO snapshot VALUES (?, ?, 1, ?, ?, ?)')
      .run(snapshotId, producedAt, ...permitValues(manifest.permits), manifestDigest(manifest));
    this.#database.exec('COMMIT');
    this.#database.close();
    await this.#flushed;
    await sync(this.#path);
  }

  close(): void {
    this.#database.close();
  }
}

/** A column of a run, with an element for each record. */
interface GrowingColumn {
  readonly elements: (string | number)[];
  /** The position of the first occurrence of each text; undefined unless the column holds texts. */
  readonly positions: Map<string, number> | undefined;
  /** Size without the closing bracket. Repeated texts count in full. */
  bytes: number;
}

/** Collects consecutive records of one organization for a run. */
class GrowingRun {
  readonly organization: number;
  /** The run of the builder in an earlier snapshot that has exactly the records so far. */
  copied: EarlierRun | undefined;
  readonly #list: ListName;
  readonly #records: Buffer;
  /** Size of the records, commas included. */
  #recordBytes = 0;
  readonly #lengths: number[] = [];
  readonly #columns: readonly GrowingColumn[];
  readonly #changes: GrowingColumn = newColumn(true);
  readonly #producedAt: string;

  /**
   * @param records space of `MAX_RUN_BYTES`, which each run overwrites
   * @param producedAt the time of the records that changed
   */
  constructor({ name, columns }: ListLayout, organization: number, records: Buffer, producedAt: string) {
    this.#list = name;
    this.#records = records;
    this.#producedAt = producedAt;
    this.organization = organization;
    this.#columns = columns.map(({ holds }) => newColumn(holds === 'text'));
  }

  get count(): number {
    return this.copied?.count ?? this.#lengths.length;
  }

  /** Adds records. Returns those that belong to the next run; undefined when there is none. */
  add(records: StagedRecord | Span): StagedRecord | Span | undefined {
    const isSpan = 'run' in records;
    const { count, copied } = this;
    if (count > 0) {
      const beginsRun = isSpan ? records.run.beginsRun(records.from) : records.beginsRun;
      const size = isSpan ? records.run.sizeAt(records.from) : Buffer.byteLength(records.json);
      if (beginsRun || organizationOf(records) !== this.organization || !this.#hasRoom(size)) return records;
    } else if (isSpan && records.run.isCanonical && records.to - records.from === records.run.count) {
      this.copied = records.run;
      return undefined;
    }
    this.copied = undefined;
    if (copied !== undefined) this.#addSpan({ run: copied, from: 0, to: copied.count });
    return isSpan ? this.#addSpan(records) : this.#addRecord(records);
  }

  #addRecord(record: StagedRecord): StagedRecord | undefined {
    const { json, values, changedAt = this.#producedAt } = record;
    const start = this.#append(Buffer.byteLength(json), values, changedAt);
    if (start === undefined) return record;
    this.#records.write(json, start);
    return undefined;
  }

  #addSpan({ run, from, to }: Span): Span | undefined {
    let row = from;
    let first: number | undefined;
    for (; row < to; row++) {
      const start = this.#append(run.sizeAt(row), run.valuesAt(row), run.changedAt(row));
      if (start === undefined) break;
      first ??= start;
    }
    if (first !== undefined) run.copy(from, row, this.#records, first);
    return row < to ? { run, from: row, to } : undefined;
  }

  #hasRoom(size: number): boolean {
    const bytes = this.copied?.run.entry.recordBytes ?? this.#recordBytes;
    return this.count < MAX_RUN_RECORDS && bytes + 1 + size <= MAX_RUN_BYTES;
  }

  /** Adds a record without its bytes. Returns their offset; undefined when the record does not fit. */
  #append(size: number, values: readonly string[], changedAt: string): number | undefined {
    const { count } = this;
    const bytesWith = values.map((value, i) => this.#columns[i].bytes + 1 + Buffer.byteLength(value));
    const hasRoom = this.#hasRoom(size) && bytesWith.every((bytes) => bytes <= MAX_RUN_BYTES);
    if (count > 0 && !hasRoom) return undefined;
    for (let i = 0; i < values.length; i++) {
      addElement(this.#columns[i], count, values[i]);
      this.#columns[i].bytes = bytesWith[i];
    }
    addElement(this.#changes, count, `"${changedAt}"`);
    const start = count === 0 ? 0 : this.#recordBytes + 1;
    if (count > 0) this.#records[start - 1] = COMMA;
    this.#recordBytes = start + size;
    this.#lengths.push(size);
    return start;
  }

  /**
   * Returns the run as it is stored: its entry in the manifest, without the place, and its columns in schema order.
   * The digest covers the bytes in memory, so that verification detects a failed write.
   */
  stored(): Pick<Run, 'content' | 'changedAt'> & { readonly entry: Omit<RunEntry, 'firstRow'> } {
    if (this.copied !== undefined) return this.copied.run;
    const lists = [this.#lengths, ...this.#columns.map(({ elements }) => elements)];
    const content = [...lists.map(columnBytes), this.#records.subarray(0, this.#recordBytes)];
    const digest = runDigest(this.#list, this.count, content);
    const changedAt = this.#list === DELETIONS.name ? undefined : columnBytes(this.#changes.elements);
    const changes = changedAt === undefined ? null : changesDigest(changedAt);
    const entry = { recordCount: this.count, recordBytes: this.#recordBytes, digest, changesDigest: changes };
    return { entry, changedAt, content };
  }
}

function newColumn(holdsTexts: boolean): GrowingColumn {
  return { elements: [], positions: holdsTexts ? new Map<string, number>() : undefined, bytes: 1 };
}

/** Adds the value of the record at a position. That of a repeated text is the position of its first occurrence. */
function addElement({ elements, positions }: GrowingColumn, position: number, value: string): void {
  const first = positions?.get(value);
  if (first === undefined) positions?.set(value, position);
  elements.push(first ?? value);
}

function columnBytes(elements: readonly (string | number)[]): Buffer {
  return Buffer.from(`[${elements.join(',')}]`);
}

function organizationOf(records: StagedRecord | Span): number {
  return 'run' in records ? records.run.organization : records.organization;
}
