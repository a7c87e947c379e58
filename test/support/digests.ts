import { createHash } from 'node:crypto';
import Database from 'better-sqlite3';

/** Computes the digests of a snapshot file, as docs/snapshot-format.md defines them. Independent of src. */

/** The run table of each collection, in the order of the digest. */
export const RUN_TABLES = {
  events: 'event_runs',
  sessions: 'session_runs',
  tickets: 'ticket_runs',
  orders: 'order_runs',
  offers: 'offer_runs',
} as const;
export type Collection = keyof typeof RUN_TABLES;
export const COLLECTIONS = Object.keys(RUN_TABLES) as Collection[];

const sha256 = (...parts: (string | Buffer)[]) => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('base64url');
};
const line = (values: unknown[]) => `${JSON.stringify(values)}\n`;

/** Returns the content columns of a run table, in schema order. */
export function contentColumnsOf(database: Database.Database, table: string): string[] {
  return database
    .prepare<[string], string>('SELECT name FROM pragma_table_info(?)')
    .pluck()
    .all(table)
    .filter((column) => column !== 'organization_id' && column !== 'first_row');
}

type RunRow = readonly [organizationId: string, firstRow: number, count: number, ...content: Buffer[]];

/** Returns the rows of table `runs` for a collection, computed from its content. */
function runsOf(database: Database.Database, collection: Collection): (string | number)[][] {
  const columns = contentColumnsOf(database, RUN_TABLES[collection]);
  return database
    .prepare<[], RunRow>(
      `SELECT organization_id, first_row, json_array_length(record_lengths),
              ${columns.map((column) => `CAST(${column} AS BLOB)`).join(', ')}
       FROM ${RUN_TABLES[collection]} ORDER BY organization_id, first_row`,
    )
    .raw()
    .all()
    .map(([organizationId, firstRow, count, ...content]) => {
      const lengths = content.map(({ length }) => length);
      const digest = sha256(line([collection, count, ...lengths]), ...content);
      return [organizationId, collection, firstRow, count, lengths[columns.indexOf('records')], digest];
    });
}

/** Returns the rows of table `runs`, computed from the content. */
export function allRuns(database: Database.Database): (string | number)[][] {
  return COLLECTIONS.flatMap((collection) => runsOf(database, collection));
}

export function organizationDigest(database: Database.Database, organizationId: string): string {
  const statement = database
    .prepare<[string, string], unknown[]>(
      `SELECT collection, record_count, record_bytes, digest FROM runs
       WHERE organization_id = ? AND collection = ? ORDER BY first_row`,
    )
    .raw();
  return sha256(...COLLECTIONS.flatMap((name) => statement.all(organizationId, name)).map(line));
}

export function manifestDigest(database: Database.Database): string {
  const rows = (sql: string) => database.prepare<[], unknown[]>(sql).raw().all();
  return sha256(
    ...rows('SELECT snapshot_id, produced_at, permits_rollback, permits_shrink FROM snapshot').map(line),
    ...rows('SELECT organization_id, name, digest FROM organizations ORDER BY organization_id').map(line),
  );
}

/** Updates the digests of a changed manifest, but not those of the runs. */
export function restamp(path: string): void {
  const database = new Database(path);
  database.pragma('synchronous = OFF');
  const setDigest = database.prepare('UPDATE organizations SET digest = ? WHERE organization_id = ?');
  for (const id of database.prepare<[], string>('SELECT organization_id FROM organizations').pluck().all())
    setDigest.run(organizationDigest(database, id), id);
  database.prepare('UPDATE snapshot SET digest = ?').run(manifestDigest(database));
  database.close();
}

/** Updates table `runs` and all digests of a changed snapshot file, so that only other checks can refuse it. */
export function reseal(path: string): void {
  const database = new Database(path);
  database.pragma('synchronous = OFF');
  database.exec('DELETE FROM runs');
  const insert = database.prepare('INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?)');
  for (const run of allRuns(database)) insert.run(...run);
  database.close();
  restamp(path);
}
