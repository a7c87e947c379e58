import { randomUUID } from 'node:crypto';
import type { CollectionName } from '../../../contract/operations.ts';
import type Database from 'better-sqlite3';
import { byCollection, type CollectionLayout, COLLECTIONS } from '../../format/layout.ts';
import type { SnapshotOrigin } from '../../../store/organization-image.ts';
import {
  contentDigest,
  historyDigest,
  manifestDigest,
  type ManifestOrganization,
  type Permit,
  permitValues,
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
import { newDatabase } from '../staging/staging-file.ts';
import { EarlierRun, type MergedRecord } from '../staging/earlier-run.ts';
import type { EarlierSnapshot } from '../staging/earlier-snapshot.ts';
import type { GoneRecord, MergedPart } from './comparison.ts';

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
  readonly #database: Database.Database;
  readonly #organizations: readonly WrittenOrganization[];

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
    this.#producedAt = producedAt;
    this.#database = newDatabase(path);
    this.#database.exec(SCHEMA);
    this.#insertDeletion = this.#database.prepare('INSERT OR IGNORE INTO deletions VALUES (?, ?, ?, ?)');
    this.#organizations = Array.from(organizations, ([organizationId, name]) => {
      const since = earlier?.organizations.get(organizationId)?.since ?? producedAt;
      return { organizationId, name, since, runs: byCollection(() => []) };
    });
  }

  /**
   * Cuts a list into runs, and writes them and the deletions. Yields the number of records after each run.
   * @param parts by organization and in list order
   */
  *write(layout: CollectionLayout, parts: Iterable<MergedPart>): Generator<number> {
    const columns = [CHANGED_COLUMN, ...contentColumns(layout)].map(() => 'CAST(? AS TEXT)');
    const insert = this.#database.prepare(`INSERT INTO ${layout.table} VALUES (?, ?, ${columns.join(', ')})`);
    let run: GrowingRun | undefined;
    for (const part of parts) {
      if ('deletedAt' in part) {
        this.#writeDeletion(part);
        continue;
      }
      const isRun = part instanceof EarlierRun;
      if (!isRun && part.changedAt === undefined) this.changed++;
      // The records of a run are taken one by one only if they continue the run before them.
      for (const next of isRun && run?.precedes(part) === true ? part.records() : [part]) {
        if (run?.add(next) === true) continue;
        if (run !== undefined) yield this.#writeRun(insert, layout, run);
        run = new GrowingRun(layout, next, this.#producedAt);
      }
    }
    if (run !== undefined) yield this.#writeRun(insert, layout, run);
  }

  #writeDeletion({ collection, organization, id, deletedAt = this.#producedAt }: GoneRecord): void {
    const { organizationId } = this.#organizations[organization];
    this.deletions += this.#insertDeletion.run(organizationId, collection, id, deletedAt).changes;
  }

  #writeRun(insert: Database.Statement, { name }: CollectionLayout, run: GrowingRun): number {
    const { organizationId, runs } = this.#organizations[run.organization];
    const firstRow = rowCount(runs[name]);
    const { entry, changedAt, content } = run.stored();
    insert.run(organizationId, firstRow, changedAt, ...content);
    run.copied?.run.release();
    runs[name].push({ ...entry, firstRow });
    this.runs[run.copied === undefined ? 'written' : 'copied']++;
    return entry.recordCount;
  }

  /**
   * Completes and closes the file. Returns the snapshot id.
   * @param ancestors earliest first
   * @param deletions those since the first ancestor, of which new ones may be written already
   */
  finish(
    ancestors: readonly SnapshotOrigin[],
    permits: readonly Permit[] = [],
    deletions: Iterable<GoneRecord> = [],
  ): string {
    for (const deletion of deletions) this.#writeDeletion(deletion);
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
    const declared = { snapshotId, producedAt, hasCanonicalRuns: true, permits, ancestors, organizations };
    this.#database
      .prepare('INSERT INTO snapshot VALUES (?, ?, 1, ?, ?, ?)')
      .run(snapshotId, producedAt, ...permitValues(permits), manifestDigest(declared));
    this.#database.exec('COMMIT');
    this.#database.close();
    return snapshotId;
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }
}

const COMMA = Buffer.from(',');
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
  /** The run of an earlier snapshot that has exactly the records so far. */
  copied: EarlierRun | undefined;
  readonly #list: CollectionName;
  readonly #records: Buffer[] = [];
  /** Size of the records, a comma after each included. */
  #recordBytes = 0;
  /** Those of `changed_at`, and of the layout. */
  readonly #columns: readonly GrowingColumn[];
  readonly #producedAt: string;

  /**
   * @param first the first record, or a run with it
   * @param producedAt time of the records that changed
   */
  constructor(layout: CollectionLayout, first: MergedRecord | EarlierRun, producedAt: string) {
    this.#list = layout.name;
    this.#producedAt = producedAt;
    this.organization = first.organization;
    this.#columns = [CHANGES, ...layout.columns].map(({ holds }) => {
      return { elements: [], positions: holds === 'text' ? new Map<string, number>() : undefined, bytes: 1 };
    });
    if (first instanceof EarlierRun) this.copied = first;
    else this.#append(first);
  }

  get count(): number {
    return this.copied?.count ?? this.#records.length;
  }

  /** Returns whether a record, or the first one of a run, belongs to this run, unless its columns are too large. */
  precedes(next: MergedRecord | EarlierRun): boolean {
    const isRun = next instanceof EarlierRun;
    const beginsRun = isRun ? next.beginsRun(0) : next.beginsRun;
    if (beginsRun || next.organization !== this.organization || this.count === MAX_RUN_RECORDS) return false;
    const bytes = this.copied === undefined ? this.#recordBytes : this.copied.run.entry.recordBytes + 1;
    return bytes + Buffer.byteLength(isRun ? next.bytesAt(0) : next.json) <= MAX_RUN_BYTES;
  }

  /** Adds a record. Returns false when it belongs to the next run, as each whole run does. */
  add(next: MergedRecord | EarlierRun): boolean {
    if (next instanceof EarlierRun || !this.precedes(next)) return false;
    const { copied } = this;
    this.copied = undefined;
    for (const one of copied?.records() ?? []) this.#append(one);
    return this.#append(next);
  }

  /** Returns false when the columns of the record do not fit. */
  #append({ json, values, changedAt = this.#producedAt }: MergedRecord): boolean {
    const { count } = this;
    const elements = [JSON.stringify(changedAt), ...values];
    const columnBytes = elements.map((element, i) => this.#columns[i].bytes + 1 + Buffer.byteLength(element));
    if (count > 0 && columnBytes.some((bytes) => bytes > MAX_RUN_BYTES)) return false;
    for (let i = 0; i < elements.length; i++) {
      const [column, element] = [this.#columns[i], elements[i]];
      // The element of a repeated text is the position of its first occurrence.
      const position = column.positions?.get(element);
      if (position === undefined) column.positions?.set(element, count);
      column.elements.push(position ?? element);
      column.bytes = columnBytes[i];
    }
    const record = typeof json === 'string' ? Buffer.from(json) : json;
    this.#records.push(record);
    this.#recordBytes += record.length + 1;
    return true;
  }

  /**
   * Returns the run as it is stored: its entry in the manifest, and its columns in schema order.
   * The digest covers the bytes in memory, so that verification detects a failed write.
   */
  stored() {
    if (this.copied !== undefined) return this.copied.run;
    const lists = [
      this.#records.map(({ length }) => length),
      ...this.#columns.map(({ elements }) => elements),
    ];
    const [lengths, changedAt, ...columns] = lists.map((elements) => Buffer.from(`[${elements.join(',')}]`));
    const records = Buffer.concat(this.#records.flatMap((record) => [record, COMMA])).subarray(0, -1);
    const content = [lengths, ...columns, records];
    const counts = { recordCount: this.count, recordBytes: records.length };
    const digest = runDigest(this.#list, this.count, content);
    return { entry: { ...counts, digest, changesDigest: changesDigest(changedAt) }, changedAt, content };
  }
}
