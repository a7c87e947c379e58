import Database from 'better-sqlite3';
import { type Collection, columnsOf, isListColumn } from './digests.ts';

/** The records of an organization in a list, open to change, and the values of each other column. */
export interface ListContent {
  readonly records: string[];
  readonly columns: Readonly<Record<string, unknown[]>>;
}

type StoredRow = Readonly<Record<string, bigint | string>>;

/**
 * Alters a list in a snapshot file, for one organization or all. The file may then have an id twice. Does not update
 * digests.
 */
export function alterRecords(
  path: string,
  list: Collection,
  alter: (content: ListContent) => void,
  organizationId = '%',
): void {
  const database = new Database(path).unsafeMode();
  database.pragma('synchronous = OFF');
  const columns = columnsOf(list);
  const rows = database.prepare<[], StoredRow>(`SELECT * FROM ${list} ORDER BY row`).safeIntegers().all();
  const isAltered = database.prepare<[string, string]>('SELECT 1 WHERE ? LIKE ?');
  withoutUnique(database, list, () => {
    database.exec(`DELETE FROM ${list}`);
    const values = columns.map(() => '?').join();
    const insert = database.prepare(`INSERT INTO ${list} VALUES (NULL, ?, ${values}, ?)`);
    for (const [id, group] of Map.groupBy(rows, (row) => row['organization_id'])) {
      const content = contentOf(columns, group);
      if (isAltered.get(String(id), organizationId) !== undefined) alter(content);
      for (const [i, record] of content.records.entries())
        insert.run(id, ...columns.map((column) => storedValue(column, content.columns[column][i])), record);
    }
  });
  database.close();
}

function contentOf(columns: readonly string[], rows: readonly StoredRow[]): ListContent {
  const valuesOf = (column: string): unknown[] =>
    rows.map(({ [column]: value }): unknown => (isListColumn(column) ? JSON.parse(String(value)) : value));
  return {
    records: rows.map(({ record }) => String(record)),
    columns: Object.fromEntries(columns.map((column) => [column, valuesOf(column)])),
  };
}

/** Returns a value that a STRICT table stores: of another type, in a text as JSON, in place of an instant as 0. */
function storedValue(column: string, value: unknown): unknown {
  if (/(_at|starts)$/.test(column)) {
    if (typeof value === 'bigint') return value;
    return Number.isSafeInteger(value) ? value : 0;
  }
  return typeof value === 'string' && !isListColumn(column) ? value : JSON.stringify(value);
}

/** Calls a function while the ids of a collection need not be distinct. The schema is the same afterwards. */
function withoutUnique(database: Database.Database, list: Collection, call: () => void): void {
  const name = `${list.slice(0, -1)}_ids`;
  const select = database.prepare<[string], string>('SELECT sql FROM sqlite_schema WHERE name = ?').pluck();
  const sql = select.get(name) ?? '';
  database.exec(`DROP INDEX ${name}`);
  call();
  database.exec(sql.replace('UNIQUE ', ''));
  database.pragma('writable_schema = ON');
  database.prepare('UPDATE sqlite_schema SET sql = ? WHERE name = ?').run(sql, name);
}

/** Keeps the first records, and drops the others. */
export function keepFirst(count: number): (content: ListContent) => void {
  return ({ records, columns }) => {
    for (const values of [records, ...Object.values(columns)]) values.splice(count);
  };
}

/** Replaces text in every record. */
export function replaceInRecords(from: string, to: string): (content: ListContent) => void {
  return ({ records }) => {
    for (const [i, record] of records.entries()) records[i] = record.replaceAll(from, to);
  };
}
