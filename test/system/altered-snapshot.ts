import { copyFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import { manifestDigest, reseal } from '../snapshot/digests.ts';

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
  return `UPDATE organizations SET organization_id = '${id}'; UPDATE segments SET organization_id = '${id}'`;
}

/** Copies a snapshot, changes what it says with SQL, and makes all its digests right again. Returns `target`. */
export function alteredCopy(source: string, target: string, ...statements: readonly string[]): string {
  copyFileSync(source, target);
  write(target, statements);
  reseal(target);
  return target;
}

/** The same for who changes nothing but the manifest: the digests of the content stay, which is faster. */
export function restampedCopy(source: string, target: string, ...statements: readonly string[]): string {
  copyFileSync(source, target);
  write(target, statements);
  restamp(target);
  return target;
}

/** Makes the digest of a changed manifest right again, and leaves those of the content as they are. */
export function restamp(path: string): void {
  const database = new Database(path);
  database.prepare('UPDATE snapshot SET digest = ?').run(manifestDigest(database));
  database.close();
}

/** Changes a file with SQL, and nothing else: its digests may be wrong after that. */
export function write(path: string, statements: readonly string[]): void {
  const database = new Database(path);
  database.unsafeMode();
  for (const statement of statements) database.exec(statement);
  database.close();
}
