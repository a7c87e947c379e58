import { setImmediate } from 'node:timers/promises';
import { COLLECTIONS } from '../format/layout.ts';
import { EarlierSnapshot } from './staging/earlier-snapshot.ts';

/**
 * Checks all digests of a snapshot file, and builds nothing.
 * @throws RefusedSnapshot, or the reason of the signal
 */
export async function checkDigests(path: string, signal?: AbortSignal): Promise<void> {
  using snapshot = new EarlierSnapshot(path);
  const organizationIds = [...snapshot.organizations.keys()];
  for (const layout of COLLECTIONS) {
    for (const { run } of snapshot.runs(layout, organizationIds)) {
      run.release();
      // Lets the event loop handle a pending signal.
      await setImmediate();
      signal?.throwIfAborted();
    }
  }
  for (const organizationId of organizationIds) Array.from(snapshot.deletions(organizationId));
}
