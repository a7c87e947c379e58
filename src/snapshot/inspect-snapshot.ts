import { statSync } from 'node:fs';
import { readManifest } from './manifest.ts';
import type { Manifest } from './manifest.ts';
import { asRefusal, openSnapshot } from './snapshot-file.ts';

/**
 * What a snapshot says of itself. Its content is not read.
 * @throws RefusedSnapshot
 */
export function inspectSnapshot(path: string): Manifest {
  const database = openSnapshot(path);
  try {
    return readManifest(database, statSync(path).size);
  } catch (error) {
    throw asRefusal(error);
  } finally {
    database.close();
  }
}
