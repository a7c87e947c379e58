import { createHash } from 'node:crypto';
import Database from 'better-sqlite3';

/** Computes the digests of a snapshot file, as docs/snapshot-format.md defines them. Independent of src. */

/** The run table of each collection, in the order of the digests. */
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

/** Returns the rows of a query, each as a list of values. */
function rowsOf<Row extends unknown[]>(
  database: Database.Database,
  sql: string,
  ...parameters: readonly string[]
): Row[] {
  return database
    .prepare<string[], Row>(sql)
    .raw()
    .all(...parameters);
}

/** Returns the content columns of a run table, in schema order. */
export function contentColumnsOf(database: Database.Database, table: string): string[] {
  return rowsOf<[string]>(database, 'SELECT name FROM pragma_table_info(?)', table)
    .flat()
    .filter((column) => !['organization_id', 'first_row', 'changed_at'].includes(column));
}

type RunRow = [
  organizationId: string,
  firstRow: number,
  count: number,
  changedAt: Buffer,
  ...content: Buffer[],
];

/** Returns the rows of table `runs` for a list, computed from its content. */
function runsOf(database: Database.Database, list: Collection) {
  const columns = contentColumnsOf(database, RUN_TABLES[list]);
  const rows = rowsOf<RunRow>(
    database,
    `SELECT organization_id, first_row, json_array_length(record_lengths), CAST(changed_at AS BLOB),
            ${columns.map((column) => `CAST(${column} AS BLOB)`).join(', ')}
     FROM ${RUN_TABLES[list]} ORDER BY organization_id, first_row`,
  );
  return rows.map(([organizationId, firstRow, count, changedAt, ...content]) => {
    const lengths = content.map(({ length }) => length);
    const digest = sha256(line([list, count, ...lengths]), ...content);
    const bytes = lengths[columns.indexOf('records')];
    const sum = sumOf(list, content);
    return [organizationId, list, firstRow, count, bytes, digest, sum, sha256(changedAt)];
  });
}

/** Returns the sum of the digests of a run's records. A malformed column counts as empty. */
function sumOf(list: Collection, content: readonly Buffer[]): string {
  const [lengths, ...columns] = content.slice(0, -1).map((column) => elementsIn(column.toString()));
  let sum = 0n;
  let at = 0;
  for (const [row, length] of lengths.entries()) {
    const values = [JSON.stringify(list), ...columns.map((elements) => elements[row])];
    const record = content[content.length - 1].subarray(at, at + Number(length));
    sum += BigInt(`0x${createHash('sha256').update(`[${values.join()}]\n`).update(record).digest('hex')}`);
    at += Number(length) + 1;
  }
  return (sum % 2n ** 256n).toString(16).padStart(64, '0');
}

/** Returns the elements of a column as JSON. In a column of texts, replaces positions by the texts. */
function elementsIn(column: string): string[] {
  // Instants may exceed 2^53.
  if (/^\[[-\d,]*\]$/.test(column)) return column.slice(1, -1).split(',');
  try {
    const elements = JSON.parse(column) as unknown[];
    return elements.map((one) => JSON.stringify(typeof one === 'number' ? elements[one] : one));
  } catch {
    return [];
  }
}

/** Returns the digests of an organization: of its content, and of its history. */
function organizationDigests(database: Database.Database, organizationId: string): [string, string] {
  const rows = (sql: string, ...more: string[]) => rowsOf(database, sql, organizationId, ...more);
  const runs = (columns: string) =>
    COLLECTIONS.flatMap((list) =>
      rows(
        `SELECT ${columns} FROM runs WHERE organization_id = ? AND collection = ? ORDER BY first_row`,
        list,
      ),
    );
  const history = [
    ...rows('SELECT since FROM organizations WHERE organization_id = ?'),
    ...runs('collection, first_row, changes_digest'),
    ...rows('SELECT collection, id, deleted_at FROM deletions WHERE organization_id = ? ORDER BY 1, 2'),
  ];
  const content = runs('collection, record_count, record_bytes, digest, records_sum');
  return [sha256(...content.map(line)), sha256(...history.map(line))];
}

function manifestDigest(database: Database.Database): string {
  const rows = [
    'SELECT snapshot_id, produced_at, canonical_runs, permits_rollback, permits_shrink FROM snapshot',
    'SELECT snapshot_id, produced_at FROM ancestors ORDER BY rowid',
    'SELECT organization_id, name, digest, since, history_digest FROM organizations ORDER BY 1',
  ].flatMap((sql) => rowsOf(database, sql));
  return sha256(...rows.map(line));
}

/** Updates the digests of a changed manifest, but not those of the runs. */
export function restamp(path: string): void {
  const database = new Database(path);
  database.pragma('synchronous = OFF');
  const setDigests = database.prepare(
    'UPDATE organizations SET digest = ?, history_digest = ? WHERE organization_id = ?',
  );
  for (const [id] of rowsOf<[string]>(database, 'SELECT organization_id FROM organizations'))
    setDigests.run(...organizationDigests(database, id), id);
  database.prepare('UPDATE snapshot SET digest = ?').run(manifestDigest(database));
  database.close();
}

/** Updates table `runs` and all digests of a changed snapshot file, so that only other checks can refuse it. */
export function reseal(path: string): void {
  const database = new Database(path);
  database.pragma('synchronous = OFF');
  database.exec('DELETE FROM runs');
  const insert = database.prepare('INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?)');
  for (const run of COLLECTIONS.flatMap((list) => runsOf(database, list))) insert.run(...run);
  database.close();
  restamp(path);
}
