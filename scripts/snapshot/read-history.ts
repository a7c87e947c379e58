import type { CollectionName } from '../../src/contract/operations.ts';
import { byCollection } from '../../src/snapshot/format/layout.ts';
import { asRefusal, openSnapshot } from '../../src/snapshot/format/snapshot-file.ts';

/** The snapshots from which copies can be continued, and the changes since the latest of them. */
export interface SnapshotHistory {
  readonly snapshots: number;
  /** Production time of the earliest one, ISO 8601; null without any. */
  readonly since: string | null;
  /** Numbers of records that were added or changed, and that are gone. */
  readonly changed: Readonly<Record<CollectionName, number>>;
  readonly deleted: number;
}

/**
 * Reads the history of a snapshot file, without a check of its digests.
 * @throws RefusedSnapshot
 */
export function readHistory(path: string): SnapshotHistory {
  using snapshot = openSnapshot(path);
  const { database, manifest } = snapshot;
  const { ancestors, producedAt } = manifest;
  const count = (sql: string, value: string): number =>
    database.prepare<[string], number>(sql).pluck().get(value) ?? 0;
  try {
    // The other elements of a repeated text are the position of the first one.
    const changed = byCollection(({ table }) =>
      count(
        `SELECT count(*) FROM (SELECT nullif(changed_at, '') AS times FROM ${table}),
                json_each(times) AS first, json_each(times) AS element
         WHERE first.value = ? AND (element.key = first.key OR element.type = 'integer' AND element.value = first.key)`,
        producedAt,
      ),
    );
    const deleted = count('SELECT count(*) FROM deletions WHERE deleted_at = ?', producedAt);
    return { snapshots: ancestors.length, since: ancestors.at(0)?.producedAt ?? null, changed, deleted };
  } catch (error) {
    throw asRefusal(error);
  }
}
