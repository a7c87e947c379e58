import { setImmediate } from 'node:timers/promises';
import { COLLECTIONS } from '../format/layout.ts';
import { instantOf, readDeletions } from '../format/manifest.ts';
import { asRefusal, openSnapshot } from '../format/snapshot-file.ts';
import { RunReader } from './run-reader.ts';

/**
 * Checks all digests of a snapshot file, and builds nothing.
 * @throws RefusedSnapshot, or the reason of the signal
 */
export async function checkDigests(path: string, signal?: AbortSignal): Promise<void> {
  using snapshot = openSnapshot(path);
  const { database, manifest } = snapshot;
  const until = instantOf(manifest.producedAt);
  try {
    const reader = new RunReader(database);
    for (const organization of manifest.organizations) {
      for (const layout of COLLECTIONS) {
        for (const entry of organization.runs[layout.name]) {
          const run = reader.read(layout, organization.organizationId, entry);
          run.checkDigest();
          run.changes(until);
          run.release();
          // Lets the event loop handle a pending signal.
          await setImmediate();
          signal?.throwIfAborted();
        }
      }
      Array.from(readDeletions(database, organization, until));
    }
  } catch (error) {
    throw asRefusal(error);
  }
}
