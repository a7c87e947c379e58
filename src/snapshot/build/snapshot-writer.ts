import Database from 'better-sqlite3';
import type { CollectionName } from '../../contract/operations.ts';
import { byCollection, COLLECTIONS } from '../format/layout.ts';
import type { CollectionLayout } from '../format/layout.ts';
import { manifestDigest, organizationDigest, permitValues, rowCount } from '../format/manifest.ts';
import type { Manifest, RunEntry } from '../format/manifest.ts';
import { MAX_RUN_BYTES, runDigest } from '../format/run.ts';
import { APPLICATION_ID, contentColumns, FORMAT_VERSION, PLACE_COLUMNS, SCHEMA } from '../format/schema.ts';
import { GrowingRun } from './growing-run.ts';
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
      return { ...organization, digest: organizationDigest(organization.runs) };
    });
    for (const { organizationId, name, digest, runs } of organizations) {
      insertOrganization.run(organizationId, name, digest);
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
