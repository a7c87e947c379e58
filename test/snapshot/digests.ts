import { createHash } from 'node:crypto';
import Database from 'better-sqlite3';

/** The digests of a snapshot file, worked out by the words of docs/snapshot-format.md alone. */

export const CONTENT_TABLES = [
  'events',
  'event_tags',
  'sessions',
  'tickets',
  'orders',
  'order_events',
  'offers',
  'offer_events',
  'offer_resales',
];
const REFERENCES: Readonly<Record<string, string>> = {
  event_row: 'events',
  order_row: 'orders',
  offer_row: 'offers',
};

export type Row = Readonly<Record<string, string | bigint>>;

interface Segment extends Row {
  readonly table_name: string;
  readonly first_row: bigint;
  readonly row_count: bigint;
  readonly record_bytes: bigint;
}

function rowsOf(database: Database.Database, sql: string, ...parameters: unknown[]): Row[] {
  return database
    .prepare<unknown[], Row>(sql)
    .safeIntegers()
    .all(...parameters);
}

function segmentsOf(database: Database.Database, organizationId: string): Segment[] {
  const statement = database.prepare<[string, string], Segment>(
    'SELECT * FROM segments WHERE organization_id = ? AND table_name = ?',
  );
  return CONTENT_TABLES.flatMap((table) => statement.safeIntegers().all(organizationId, table));
}

export function organizationDigest(database: Database.Database, organizationId: string): string {
  const segments = segmentsOf(database, organizationId);
  const hash = createHash('sha256');
  for (const { table_name: table, first_row: first, row_count: count } of segments) {
    hash.update(`${table}\n${count}\n`);
    if (count === 0n) continue;
    const rows = rowsOf(
      database,
      `SELECT * FROM ${table} WHERE row >= ? AND row < ? ORDER BY row`,
      first,
      first + count,
    );
    for (const column of Object.keys(rows[0]).filter((name) => name !== 'row')) {
      const base = segments.find(({ table_name: name }) => name === REFERENCES[column])?.first_row ?? 0n;
      const values = rows.map(({ [column]: value }) => (typeof value === 'bigint' ? value - base : value));
      const bytes = values.flatMap((value) => [Buffer.from(String(value)), Buffer.from([0xff])]);
      hash.update(createHash('sha256').update(Buffer.concat(bytes)).digest());
    }
  }
  return hash.digest('base64url');
}

export function manifestDigest(database: Database.Database): string {
  const [{ snapshot_id, produced_at, permits_rollback, permits_shrink }] = rowsOf(
    database,
    'SELECT * FROM snapshot',
  );
  const lines = [
    JSON.stringify([snapshot_id, produced_at, Number(permits_rollback), Number(permits_shrink)]),
  ];
  for (const { organization_id: id, name, digest } of rowsOf(
    database,
    'SELECT * FROM organizations ORDER BY organization_id',
  )) {
    lines.push(JSON.stringify([id, name, digest]));
    for (const { table_name, first_row, row_count, record_bytes } of segmentsOf(database, String(id)))
      lines.push(JSON.stringify([table_name, Number(first_row), Number(row_count), Number(record_bytes)]));
  }
  return createHash('sha256')
    .update(lines.map((line) => `${line}\n`).join(''))
    .digest('base64url');
}

/** Makes the digests of a changed snapshot file right again, so that what is checked besides them is reached. */
export function reseal(path: string): void {
  const database = new Database(path);
  const setBytes = database.prepare(
    'UPDATE segments SET record_bytes = ? WHERE organization_id = ? AND table_name = ?',
  );
  const setDigest = database.prepare('UPDATE organizations SET digest = ? WHERE organization_id = ?');
  for (const { organization_id: id } of rowsOf(database, 'SELECT organization_id FROM organizations')) {
    for (const { table_name: table, first_row: first, row_count: count } of segmentsOf(
      database,
      String(id),
    )) {
      if (!['events', 'sessions', 'tickets', 'orders', 'offers'].includes(table)) continue;
      const [{ bytes }] = rowsOf(
        database,
        `SELECT coalesce(sum(octet_length(record)), 0) AS bytes FROM ${table} WHERE row >= ? AND row < ?`,
        first,
        first + count,
      );
      setBytes.run(bytes, id, table);
    }
    setDigest.run(organizationDigest(database, String(id)), id);
  }
  database.prepare('UPDATE snapshot SET digest = ?').run(manifestDigest(database));
  database.close();
}
