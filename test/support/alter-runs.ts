import Database from 'better-sqlite3';
import { contentColumnsOf, RUN_TABLES, type Collection } from './digests.ts';

/** A run, open to change: its records, and the elements of each column, those of `changed_at` too. */
export interface RunContent {
  readonly records: string[];
  readonly columns: Readonly<Record<string, unknown[]>>;
}

/**
 * Alters the runs of a list in a snapshot file, for one organization or all. Removes a run without records. Does
 * not update digests, nor the first rows of later runs.
 */
export function alterRuns(
  path: string,
  list: Collection,
  alter: (run: RunContent) => void,
  organizationId = '%',
): void {
  const table = RUN_TABLES[list];
  const database = new Database(path);
  database.pragma('synchronous = OFF');
  const columns = ['changed_at', ...contentColumnsOf(database, table)];
  const rows = database
    .prepare<[string], Record<string, string>>(`SELECT rowid, * FROM ${table} WHERE organization_id LIKE ?`)
    .all(organizationId);
  for (const row of rows) {
    const lists = columns.slice(0, -1).map((column) => [column, elementsOf(row[column])]);
    const records = JSON.parse(`[${row['records']}]`) as unknown[];
    const run = {
      records: records.map((record) => JSON.stringify(record)),
      columns: Object.fromEntries(lists) as Record<string, unknown[]>,
    };
    alter(run);
    if (run.records.length === 0) {
      database.prepare(`DELETE FROM ${table} WHERE rowid = ?`).run(row['rowid']);
      continue;
    }
    run.columns['record_lengths'] = run.records.map((record) => Buffer.byteLength(record));
    const values = columns.map((column) =>
      column === 'records'
        ? run.records.join(',')
        : // Changes that are not declared.
          row[column] && JSON.stringify(run.columns[column]),
    );
    database
      .prepare(`UPDATE ${table} SET ${columns.map((column) => `${column} = ?`).join(', ')} WHERE rowid = ?`)
      .run(...values, row['rowid']);
  }
  database.close();
}

/** Returns the elements of a column. In a column of texts, replaces references by the texts. */
function elementsOf(column: string): unknown[] {
  if (column === '') return [];
  const elements = JSON.parse(column) as unknown[];
  if (typeof elements[0] !== 'string') return elements;
  return elements.map((element) => (typeof element === 'number' ? elements[element] : element));
}

/** Keeps the first records of a run, and drops the others. */
export function keepFirst(count: number): (run: RunContent) => void {
  return ({ records, columns }) => {
    records.splice(count);
    for (const values of Object.values(columns)) values.splice(count);
  };
}

/** Replaces text in every record. */
export function replaceInRecords(from: string, to: string): (run: RunContent) => void {
  return ({ records }) => {
    for (const [i, record] of records.entries()) records[i] = record.replaceAll(from, to);
  };
}
