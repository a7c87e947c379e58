import Database from 'better-sqlite3';
import { expect } from 'chai';
import { COLLECTION_NAMES } from '../../src/contract/resources.ts';

/** Expects two snapshot files to have the same rows of records, but for the times of changes. */
export function expectSameRecords(file: string, other: string, what?: string): void {
  for (const table of COLLECTION_NAMES) expectSameTable(file, other, table, 'changed_at', what);
}

/** Expects two snapshot files to have the same rows, but for the ids of snapshots. The first may have larger bounds. */
export function expectSameRows(file: string, other: string, what?: string): void {
  for (const table of ['organizations', 'lists', ...COLLECTION_NAMES, 'deletions'])
    expectSameTable(file, other, table, 'longest_row', what);
  const smaller = queried(
    file,
    other,
    `SELECT * FROM main.lists AS a JOIN other.lists AS b USING (organization_id, collection)
     WHERE a.longest_row < b.longest_row`,
  );
  expect(smaller, what).to.deep.equal([]);
}

function expectSameTable(file: string, other: string, table: string, without: string, what = ''): void {
  const columns = queried(file, other, `SELECT name FROM pragma_table_info('${table}')`)
    .map(({ name }) => String(name))
    .filter((name) => name !== without)
    .join(', ');
  const [these, those] = ['main', 'other'].map((schema) => `SELECT ${columns} FROM ${schema}.${table}`);
  const different = queried(
    file,
    other,
    `SELECT 'first', * FROM (${these} EXCEPT ${those})
    UNION ALL SELECT 'second', * FROM (${those} EXCEPT ${these}) LIMIT 10`,
  );
  expect(different, `${table} ${what}`).to.deep.equal([]);
}

function queried(file: string, other: string, sql: string): Record<string, unknown>[] {
  const database = new Database(file, { readonly: true });
  try {
    database.prepare('ATTACH ? AS other').run(other);
    return database.prepare<[], Record<string, unknown>>(sql).all();
  } finally {
    database.close();
  }
}
