import { readManifest } from './format/manifest.ts';
import type { Manifest } from './format/manifest.ts';
import { asRefusal, openSnapshot } from './format/snapshot-file.ts';

/**
 * Reads the manifest of a snapshot file, and none of its content.
 * @throws RefusedSnapshot
 */
export function inspectSnapshot(path: string): Manifest {
  const { database, bytes } = openSnapshot(path);
  try {
    return readManifest(database, bytes);
  } catch (error) {
    throw asRefusal(error);
  } finally {
    database.close();
  }
}
