import Database from 'better-sqlite3';
import { reseal } from './digests.ts';

/** A deletion, with an ISO 8601 time. */
export interface StoredDeletion {
  readonly collection: string;
  readonly id: string;
  readonly deletedAt: string;
}

/** Replaces the deletions of organizations in a snapshot file. */
export function setDeletions(
  path: string,
  deletionsOf: Readonly<Record<string, readonly StoredDeletion[]>>,
): void {
  const database = new Database(path);
  database.pragma('synchronous = OFF');
  const insert = database.prepare('INSERT INTO deletions VALUES (?, ?, ?, ?)');
  for (const [organizationId, deletions] of Object.entries(deletionsOf)) {
    database.prepare('DELETE FROM deletions WHERE organization_id = ?').run(organizationId);
    for (const { collection, id, deletedAt } of deletions)
      insert.run(organizationId, collection, id, Date.parse(deletedAt) * 1000);
  }
  database.close();
  reseal(path);
}
