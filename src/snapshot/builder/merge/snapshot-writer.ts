import { randomUUID } from 'node:crypto';
import type { CollectionName } from '../../../contract/operations.ts';
import type Database from 'better-sqlite3';
import { COMMA } from '../../../store/records.ts';
import { byCollection, type CollectionLayout, COLLECTIONS } from '../../format/layout.ts';
import type { SnapshotOrigin } from '../../../store/organization-image.ts';
import {
  contentDigest,
  manifestDigest,
  type ManifestOrganization,
  rowCount,
  type RunEntry,
} from '../../format/manifest.ts';
import {
  CHANGED_COLUMN,
  changesDigest,
  contentColumns,
  MAX_RUN_BYTES,
  MAX_RUN_RECORDS,
  runDigest,
  SCHEMA,
} from '../../format/schema.ts';
import { historyDigest } from '../../format/deletions.ts';
import { sync } from '../../format/snapshot-file.ts';
import { newDatabase, type StagedRecord } from '../staging/staging-file.ts';
import type { Run } from '../../load/run-reader.ts';
import type { EarlierRun, Span } from '../staging/earlier-run.ts';
import type { EarlierSnapshot } from '../staging/earlier-snapshot.ts';

interface WrittenOrganization extends Pick<ManifestOrganization, 'organizationId' | 'name' | 'since'> {
  readonly runs: Record<CollectionName, RunEntry[]>;
}

/** Writes a new snapshot file, which no other process reads yet. */
export class SnapshotWriter implements Disposable {
  readonly runs = { copied: 0, written: 0 };
  /** Number of records that are new or differ from their earlier selves. */
  changed = 0;
  deletions = 0;
  readonly #producedAt: string;
  readonly #insertDeletion: Database.Statement<[string, string, string, string]>;
  readonly #path: string;
  readonly #database: Database.Database;
  readonly #organizations: readonly WrittenOrganization[];
  /** Space for the records of the current run. Strings would live long enough to reach V8's old generation. */
  readonly #records = Buffer.allocUnsafeSlow(MAX_RUN_BYTES);

  /**
   * @param organizations names by id, in the order of the ids
   * @param producedAt ISO 8601, UTC
   * @param earlier has the times with which histories began
   */
  constructor(
    path: string,
    organizations: ReadonlyMap<string, string>,
    producedAt: string,
    earlier?: EarlierSnapshot,
  ) {
    this.#path = path;
    this.#producedAt = producedAt;
    this.#database = newDatabase(path);
    this.#database.exec(SCHEMA);
    this.#insertDeletion = this.#database.prepare('INSERT OR IGNORE INTO deletions VALUES (?, ?, ?, ?)');
    this.#database.exec('BEGIN');
    this.#organizations = Array.from(organizations, ([organizationId, name]) => {
      const since = earlier?.since(organizationId) ?? producedAt;
      return { organizationId, name, since, runs: byCollection(() => []) };
    });
  }

  /**
   * Cuts a list into runs, and writes them. Yields the number of records after each run.
   * @param records by organization and in list order
   */
  *write(layout: CollectionLayout, records: Iterable<StagedRecord | Span>): Generator<number> {
    const columns = [CHANGED_COLUMN, ...contentColumns(layout)].map(() => 'CAST(? AS TEXT)');
    const insert = this.#database.prepare(`INSERT INTO ${layout.table} VALUES (?, ?, ${columns.join(', ')})`);
    let run: GrowingRun | undefined;
    for (const next of records) {
      if (!('run' in next) && next.changedAt === undefined) this.changed++;
      let rest = run === undefined ? next : run.add(next);
      while (rest !== undefined) {
        if (run !== undefined) yield this.#writeRun(insert, layout, run);
        run = new GrowingRun(layout, organizationOf(rest), this.#records, this.#producedAt);
        rest = run.add(rest);
      }
    }
    if (run !== undefined) yield this.#writeRun(insert, layout, run);
  }

  /**
   * @param organization position of its id
   * @param deletedAt time of the first snapshot without the record, ISO 8601; that of this one by default
   */
  addDeletion(organization: number, collection: string, id: string, deletedAt = this.#producedAt): void {
    const { organizationId } = this.#organizations[organization];
    const { changes } = this.#insertDeletion.run(organizationId, collection, id, deletedAt);
    this.deletions += changes;
  }

  #writeRun(insert: Database.Statement, { name }: CollectionLayout, run: GrowingRun): number {
    const { organizationId, runs } = this.#organizations[run.organization];
    const firstRow = rowCount(runs[name]);
    const { entry, changedAt, content } = run.stored();
    insert.run(organizationId, firstRow, changedAt, ...content);
    runs[name].push({ ...entry, firstRow });
    this.runs[run.copied === undefined ? 'written' : 'copied']++;
    return entry.recordCount;
  }

  /**
   * Completes, closes and flushes the file. Returns the snapshot id.
   * @param ancestors earliest first
   */
  async finish(ancestors: readonly SnapshotOrigin[]): Promise<string> {
    const [snapshotId, producedAt] = [randomUUID(), this.#producedAt];
    const insertAncestor = this.#database.prepare('INSERT INTO ancestors VALUES (?, ?)');
    const insertOrganization = this.#database.prepare('INSERT INTO organizations VALUES (?, ?, ?, ?, ?)');
    const insertRun = this.#database.prepare('INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, ?)');
    for (const one of ancestors) insertAncestor.run(one.snapshotId, one.producedAt);
    const organizations = this.#organizations.map((organization) => {
      const { organizationId, name, since, runs } = organization;
      const content = contentDigest(runs);
      const history = historyDigest(this.#database, organization);
      insertOrganization.run(organizationId, name, content, since, history);
      for (const { name: list } of COLLECTIONS) {
        for (const { firstRow, recordCount, recordBytes, digest, changesDigest: changes } of runs[list])
          insertRun.run(organizationId, list, firstRow, recordCount, recordBytes, digest, changes);
      }
      return { ...organization, contentDigest: content, historyDigest: history };
    });
    const manifest = {
      snapshotId,
      producedAt,
      hasCanonicalRuns: true,
      permits: [],
      ancestors,
      organizations,
    };
    this.#database
      .prepare('INSERT INTO snapshot VALUES (?, ?, 1, 0, 0, ?)')
      .run(snapshotId, producedAt, manifestDigest(manifest));
    this.#database.exec('COMMIT');
    this.#database.close();
    await sync(this.#path);
    return snapshotId;
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }
}

const CHANGES = { holds: 'text' } as const;

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
  readonly #list: CollectionName;
  readonly #records: Buffer;
  /** Size of the records, commas included. */
  #recordBytes = 0;
  readonly #lengths: number[] = [];
  /** Those of `changed_at`, and of the layout. */
  readonly #columns: readonly GrowingColumn[];
  readonly #producedAt: string;

  /**
   * @param records space of `MAX_RUN_BYTES`, which each run overwrites
   * @param producedAt time of the records that changed
   */
  constructor(layout: CollectionLayout, organization: number, records: Buffer, producedAt: string) {
    this.#list = layout.name;
    this.#records = records;
    this.#producedAt = producedAt;
    this.organization = organization;
    this.#columns = [CHANGES, ...layout.columns].map(({ holds }) => {
      return { elements: [], positions: holds === 'text' ? new Map<string, number>() : undefined, bytes: 1 };
    });
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
    const start = this.#append(Buffer.byteLength(json), [JSON.stringify(changedAt), ...values]);
    if (start === undefined) return record;
    this.#records.write(json, start);
    return undefined;
  }

  #addSpan({ run, from, to }: Span): Span | undefined {
    for (let row = from; row < to; row++) {
      const start = this.#append(run.sizeAt(row), [JSON.stringify(run.changedAt(row)), ...run.valuesAt(row)]);
      if (start === undefined) return { run, from: row, to };
      run.copy(row, this.#records, start);
    }
    return undefined;
  }

  #hasRoom(size: number): boolean {
    const bytes = this.copied?.run.entry.recordBytes ?? this.#recordBytes;
    return this.count < MAX_RUN_RECORDS && bytes + 1 + size <= MAX_RUN_BYTES;
  }

  /** Adds a record without its bytes. Returns their offset; undefined when the record does not fit. */
  #append(size: number, values: readonly string[]): number | undefined {
    const { count } = this;
    const columnBytes = values.map((value, i) => this.#columns[i].bytes + 1 + Buffer.byteLength(value));
    const hasRoom = this.#hasRoom(size) && columnBytes.every((bytes) => bytes <= MAX_RUN_BYTES);
    if (count > 0 && !hasRoom) return undefined;
    for (let i = 0; i < values.length; i++) {
      const column = this.#columns[i];
      // The element of a repeated text is the position of its first occurrence.
      const position = column.positions?.get(values[i]);
      if (position === undefined) column.positions?.set(values[i], count);
      column.elements.push(position ?? values[i]);
      column.bytes = columnBytes[i];
    }
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
    const [lengths, changedAt, ...columns] = lists.map((elements) => Buffer.from(`[${elements.join(',')}]`));
    const content = [lengths, ...columns, this.#records.subarray(0, this.#recordBytes)];
    const counts = { recordCount: this.count, recordBytes: this.#recordBytes };
    const digest = runDigest(this.#list, this.count, content);
    return { entry: { ...counts, digest, changesDigest: changesDigest(changedAt) }, changedAt, content };
  }
}

function organizationOf(records: StagedRecord | Span): number {
  return 'run' in records ? records.run.organization : records.organization;
}
