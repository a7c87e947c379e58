import Database from 'better-sqlite3';
import { reseal } from './digests.ts';

/** A deletion as it is stored and served. */
export interface StoredDeletion {
  readonly collection: string;
  readonly id: string;
  readonly deletedAt: string;
}

/** Replaces the deletions of an organization in a snapshot file. They become one run, in the given order. */
export function setDeletions(
  path: string,
  organizationId: string,
  deletions: readonly StoredDeletion[],
): void {
  const database = new Database(path);
  database.pragma('synchronous = OFF');
  database.prepare('DELETE FROM deletion_runs WHERE organization_id = ?').run(organizationId);
  const records = deletions.map(({ collection, id, deletedAt }) =>
    JSON.stringify({ collection, id, deletedAt }),
  );
  const columns = [
    records.map((record) => Buffer.byteLength(record)),
    deletions.map(({ collection }, i) => {
      const first = deletions.findIndex((one) => one.collection === collection);
      return first === i ? collection : first;
    }),
    deletions.map(({ deletedAt }) => Date.parse(deletedAt) * 1000),
  ];
  if (deletions.length > 0) {
    database
      .prepare('INSERT INTO deletion_runs VALUES (?, 0, ?, ?, ?, ?)')
      .run(organizationId, ...columns.map((column) => JSON.stringify(column)), records.join());
  }
  database.close();
  reseal(path);
}
