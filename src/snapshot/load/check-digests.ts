import { once } from 'node:events';
import { statSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { MEGABYTE } from '../../store/memory/shared-arrays.ts';
import { COLLECTIONS } from '../format/layout.ts';
import { instantOf, readDeletions } from '../format/manifest.ts';
import { asRefusal, openSnapshot } from '../format/snapshot-file.ts';
import { RunReader } from './run-reader.ts';

/** Size of a file from which on a second thread saves more time than it takes to start. */
const LARGE_BYTES = 64 * MEGABYTE;

/**
 * Checks all digests of a snapshot file, and builds nothing.
 * @throws RefusedSnapshot, or the reason of the signal
 */
export async function checkDigests(path: string, signal?: AbortSignal): Promise<void> {
  const next = newPosition();
  const program = new URL('./digest-thread.ts', import.meta.url);
  const thread =
    statSync(path).size < LARGE_BYTES ? undefined : new Worker(program, { workerData: { path, next } });
  const ended = thread && once(thread, 'exit');
  // Until it is awaited, its rejection must not count as unhandled.
  ended?.catch(() => undefined);
  try {
    const check = digestChecks(path, next);
    while (check.next().done !== true) {
      // Lets the event loop handle a pending signal.
      await setImmediate();
      signal?.throwIfAborted();
    }
    // After an error of the thread, this one checks all runs, and finds it.
    await ended?.catch(() => Array.from(digestChecks(path, newPosition())));
  } finally {
    await thread?.terminate();
  }
}

const newPosition = () => new Int32Array(new SharedArrayBuffer(4));

/**
 * Checks the digests of runs. Yields after each run.
 * @param next position of the next run to check, which threads share
 */
export function* digestChecks(path: string, next: Int32Array): Generator<undefined> {
  using snapshot = openSnapshot(path);
  const { database, manifest } = snapshot;
  const until = instantOf(manifest.producedAt);
  try {
    const reader = new RunReader(database);
    let own = Atomics.add(next, 0, 1);
    let position = 0;
    for (const organization of manifest.organizations) {
      for (const layout of COLLECTIONS) {
        for (const entry of organization.runs[layout.name]) {
          if (position++ !== own) continue;
          const run = reader.read(layout, organization.organizationId, entry);
          run.checkDigest();
          run.changes(until);
          run.release();
          yield;
          own = Atomics.add(next, 0, 1);
        }
      }
      Array.from(readDeletions(database, organization, until));
    }
  } catch (error) {
    throw asRefusal(error);
  }
}
