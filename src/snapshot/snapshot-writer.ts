import Database from 'better-sqlite3';
import { ContentHash } from './content-hash.ts';
import { APPLICATION_ID, CONTENT_TABLES, FORMAT_VERSION, SCHEMA } from './format.ts';
import type { CollectionLayout } from './layout.ts';
import { manifestDigest, permitValues } from './manifest.ts';
import type { Manifest, Segment } from './manifest.ts';
import { unpackList } from './packed-rows.ts';
import { TableWriter } from './table-writer.ts';
import type { Values } from './table-writer.ts';

/** Fewer and fuller pages than SQLite's default of 4096: records are about a kilobyte. */
const PAGE_BYTES = 16_384;
/** Rows between two turns of the event loop, at which the threads that read the import are kept busy. */
const ROWS_PER_TURN = 256;

export interface RecordRow {
  /** The columns of the collection's table. */
  readonly values: Values;
  /** For each relation of the collection its values, as a packed list. */
  readonly relations: readonly Buffer[];
}

/** Writes a snapshot file that nobody else looks at yet. */
export class SnapshotWriter {
  readonly #signal: AbortSignal | undefined;
  readonly #database: Database.Database;
  readonly #organizations: ReadonlyMap<
    string,
    { name: string; hash: ContentHash; segments: Map<string, Segment> }
  >;
  readonly #nextRow = new Map(CONTENT_TABLES.map(({ name }) => [name, 0]));

  /** `organizations`: names by id, in the order of the ids. `signal`: ends the writing, with its reason thrown. */
  constructor(path: string, organizations: ReadonlyMap<string, string>, signal?: AbortSignal) {
    this.#signal = signal;
    this.#database = new Database(path);
    this.#database.pragma(`page_size = ${PAGE_BYTES}`);
    this.#database.pragma('journal_mode = OFF');
    this.#database.pragma('synchronous = OFF');
    this.#database.pragma('locking_mode = EXCLUSIVE');
    this.#database.exec(SCHEMA);
    this.#database.pragma(`application_id = ${APPLICATION_ID}`);
    this.#database.pragma(`user_version = ${FORMAT_VERSION}`);
    this.#database.exec('BEGIN');
    this.#organizations = new Map(
      Array.from(organizations, ([id, name]) => [id, { name, hash: new ContentHash(), segments: new Map() }]),
    );
  }

  /**
   * Writes the records of one organization's collection, `rows`, in list order, and calls `onRow` for each.
   */
  async write(
    organizationId: string,
    layout: CollectionLayout,
    rows: Iterable<RecordRow>,
    onRow: () => void,
  ): Promise<void> {
    const records = this.#tableWriter(organizationId, layout.table);
    const relations = layout.relations.map(({ table }) => this.#tableWriter(organizationId, table));
    for (const row of rows) {
      const reference = { row: records.rowCount, firstRow: records.firstRow };
      records.add(row.values);
      for (const [i, relation] of relations.entries()) {
        for (const value of unpackList(row.relations[i])) {
          relation.add([reference, value]);
        }
      }
      onRow();
      if (records.rowCount % ROWS_PER_TURN === 0) {
        await new Promise(setImmediate);
        this.#signal?.throwIfAborted();
      }
    }
    for (const writer of [records, ...relations]) {
      writer.flush();
      this.#setSegment(organizationId, writer);
    }
  }

  /** The row that is written next in a table. */
  nextRow(table: string): number {
    return this.#nextRow.get(table) ?? 0;
  }

  /** Completes the file. */
  finish(snapshotId: string, producedAt: string): void {
    const insertOrganization = this.#database.prepare('INSERT INTO organizations VALUES (?, ?, ?)');
    const insertSegment = this.#database.prepare('INSERT INTO segments VALUES (?, ?, ?, ?, ?)');
    const organizations: Manifest['organizations'][number][] = [];
    for (const [organizationId, { name, hash, segments }] of this.#organizations) {
      const organization = {
        organizationId,
        name,
        digest: hash.digest(),
        segments: inSchemaOrder(segments),
      };
      organizations.push(organization);
      insertOrganization.run(organizationId, name, organization.digest);
      for (const [table, { firstRow, rowCount, recordBytes }] of organization.segments) {
        insertSegment.run(organizationId, table, firstRow, rowCount, recordBytes);
      }
    }
    const manifest: Manifest = { snapshotId, producedAt, permits: [], organizations };
    this.#database
      .prepare('INSERT INTO snapshot VALUES (?, ?, ?, ?, ?)')
      .run(snapshotId, producedAt, ...permitValues(manifest.permits), manifestDigest(manifest));
    this.#database.exec('COMMIT');
    this.#database.close();
  }

  /** Lets go of the file, complete or not. */
  close(): void {
    this.#database.close();
  }

  #tableWriter(organizationId: string, table: string): TableWriter {
    const organization = this.#organizations.get(organizationId);
    if (organization === undefined) throw new TypeError(`no organization ${organizationId}`);
    return new TableWriter(this.#database, table, this.nextRow(table), organization.hash);
  }

  #setSegment(organizationId: string, { tableName, firstRow, rowCount, recordBytes }: TableWriter): void {
    this.#organizations.get(organizationId)?.segments.set(tableName, { firstRow, rowCount, recordBytes });
    this.#nextRow.set(tableName, firstRow + rowCount);
  }
}

function inSchemaOrder(segments: ReadonlyMap<string, Segment>): Map<string, Segment> {
  const empty: Segment = { firstRow: 0, rowCount: 0, recordBytes: 0 };
  return new Map(CONTENT_TABLES.map(({ name }) => [name, segments.get(name) ?? empty]));
}
