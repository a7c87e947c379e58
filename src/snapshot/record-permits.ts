import Database from 'better-sqlite3';
import { inspectSnapshot } from './inspect-snapshot.ts';
import { manifestDigest, PERMITS, permitValues } from './format/manifest.ts';
import type { Manifest, Permit } from './format/manifest.ts';

/**
 * Writes into a snapshot file that nobody else looks at what its publisher permits, in the place of what was permitted
 * before, and renews the digest of its manifest. A file that says so already stays as it is, byte for byte.
 * @throws RefusedSnapshot when it is no snapshot
 */
export function recordPermits(path: string, permits: readonly Permit[]): Manifest {
  const found = inspectSnapshot(path);
  const manifest: Manifest = { ...found, permits };
  const digest = manifestDigest(manifest);
  if (digest === manifestDigest(found)) return manifest;
  const database = new Database(path, { fileMustExist: true });
  try {
    // No journal beside it: a copy that is not written through is thrown away.
    database.pragma('journal_mode = OFF');
    database.pragma('synchronous = OFF');
    database
      .prepare(
        `UPDATE snapshot SET ${PERMITS.map((permit) => `permits_${permit} = ?`).join(', ')}, digest = ?`,
      )
      .run(...permitValues(permits), digest);
  } finally {
    database.close();
  }
  return manifest;
}
