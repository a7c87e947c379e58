import { copyFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import { reseal, restamp, RUN_TABLES } from '../support/digests.ts';

/** Other snapshots made of one that was built: sound ones, much faster than building them. */

/** The id of the `n`th snapshot of a test. */
export function snapshotIdOf(n: number): string {
  return `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
}

/** When the `n`th snapshot of a test was produced: one second after that before it. */
export function producedAtOf(n: number): string {
  return new Date(Date.UTC(2026, 10, 1) + n * 1000).toISOString();
}

/** Makes it the `n`th snapshot of a test. */
export function asSnapshot(n: number): string {
  return `UPDATE snapshot SET snapshot_id = '${snapshotIdOf(n)}', produced_at = '${producedAtOf(n)}'`;
}

/** Gives the one organization of a snapshot another id. */
export function asOrganization(id: string): string {
  return ['organizations', 'runs', ...Object.values(RUN_TABLES)]
    .map((table) => `UPDATE ${table} SET organization_id = '${id}';`)
    .join('\n');
}

/** A change of a snapshot file: SQL, or a function of its path. */
export type Change = string | ((path: string) => void);

/** Copies a snapshot, changes it, and makes all its digests right again. Returns `target`. */
export function alteredCopy(source: string, target: string, ...changes: readonly Change[]): string {
  copyFileSync(source, target);
  change(target, changes);
  reseal(target);
  return target;
}

/** The same when nothing but the manifest changes: the digests of the runs stay, which is faster. */
export function restampedCopy(source: string, target: string, ...changes: readonly Change[]): string {
  copyFileSync(source, target);
  change(target, changes);
  restamp(target);
  return target;
}

/** Changes a file, and nothing else: its digests may be wrong after that. */
export function change(path: string, changes: readonly Change[]): void {
  for (const one of changes) {
    if (typeof one === 'string') {
      const database = new Database(path);
      database.unsafeMode();
      database.exec(one);
      database.close();
    } else one(path);
  }
}
