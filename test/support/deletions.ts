import Database from 'better-sqlite3';
import { parseTimestamp } from '../../src/contract/timestamp.ts';
import { reseal } from './digests.ts';

/** A deletion as it is stored and served. */
export interface StoredDeletion {
  readonly collection: string;
  readonly id: string;
  readonly deletedAt: string;
}

/** Replaces the deletions of organizations in a snapshot file. Sorts them; those of an organization become one run. */
export function setDeletions(
  path: string,
  deletionsOf: Readonly<Record<string, readonly StoredDeletion[]>>,
): void {
  const database = new Database(path);
  database.pragma('synchronous = OFF');
  for (const [organizationId, unsorted] of Object.entries(deletionsOf)) {
    database.prepare('DELETE FROM deletion_runs WHERE organization_id = ?').run(organizationId);
    if (unsorted.length === 0) continue;
    const deletions = unsorted.toSorted(inListOrder);
    const records = deletions.map(({ collection, id, deletedAt }) =>
      JSON.stringify({ collection, id, deletedAt }),
    );
    const columns = [
      records.map((record) => Buffer.byteLength(record)),
      deletions.map(({ collection }, i) => {
        const first = deletions.findIndex((one) => one.collection === collection);
        return first === i ? JSON.stringify(collection) : first;
      }),
      // A double does not represent all instants.
      deletions.map(instantOf),
    ];
    database
      .prepare('INSERT INTO deletion_runs VALUES (?, 0, ?, ?, ?, ?)')
      .run(organizationId, ...columns.map((elements) => `[${elements.join()}]`), records.join());
  }
  database.close();
  reseal(path);
}

export function inListOrder(a: StoredDeletion, b: StoredDeletion): number {
  const keysOf = (one: StoredDeletion) => [instantOf(one), one.id, one.collection] as const;
  const [left, right] = [keysOf(a), keysOf(b)];
  const i = left.findIndex((key, at) => key !== right[at]);
  return i < 0 ? 0 : left[i] < right[i] ? -1 : 1;
}

function instantOf({ deletedAt }: StoredDeletion): bigint {
  return parseTimestamp(deletedAt) ?? 0n;
}
