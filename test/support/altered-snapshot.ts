import { copyFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import { COLLECTIONS, reseal } from './digests.ts';

/** Makes valid snapshots out of a built one. An alteration takes a fraction of the time of a build. */

/** Returns the id of the `n`th snapshot of a test. */
export function snapshotIdOf(n: number): string {
  return `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
}

/** Returns the production time of the `n`th snapshot of a test: one second after its predecessor. */
export function producedAtOf(n: number): string {
  return new Date(Date.UTC(2026, 10, 1) + n * 1000).toISOString();
}

/** Returns SQL that makes a snapshot the `n`th one of a test. */
export function asSnapshot(n: number): string {
  return `UPDATE snapshot SET snapshot_id = '${snapshotIdOf(n)}'; ${asOf(n)}`;
}

/** Returns SQL that gives a snapshot the production time of the `n`th one, at which its history begins. */
export function asOf(n: number): string {
  return [
    `UPDATE snapshot SET produced_at = '${producedAtOf(n)}'`,
    `UPDATE organizations SET since = '${producedAtOf(n)}'`,
    ...COLLECTIONS.map((list) => `UPDATE ${list} SET changed_at = 0`),
  ].join('; ');
}

/** Returns SQL that changes the id of a snapshot's only organization. */
export function asOrganization(id: string): string {
  return ['organizations', 'lists', 'deletions', ...COLLECTIONS]
    .map((table) => `UPDATE ${table} SET organization_id = '${id}';`)
    .join('\n');
}

/** A change to a snapshot file: SQL, or a function of its path. */
export type Change = string | ((path: string) => void);

/** Copies a snapshot, changes the copy, and recomputes all its digests. Returns `target`. */
export function alteredCopy(source: string, target: string, ...changes: readonly Change[]): string {
  copyFileSync(source, target);
  change(target, changes);
  reseal(target);
  return target;
}

/** Changes a snapshot file and leaves its digests as they are. */
export function change(path: string, changes: readonly Change[]): void {
  for (const step of changes) {
    if (typeof step === 'string') new Database(path).unsafeMode().exec(step).close();
    else step(path);
  }
}
