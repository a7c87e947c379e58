import { Worker } from 'node:worker_threads';
import type { SnapshotImage } from '../store/organization-image.ts';
import { GIVE_UP, READ_ON } from './loader-protocol.ts';
import type { LoaderMessage, LoaderOrder } from './loader-protocol.ts';
import type { Manifest } from './manifest.ts';
import { RefusedSnapshot } from './refused-snapshot.ts';

/**
 * Reads a snapshot file on a thread of its own.
 *
 * @param admit is told what the file declares before its content is read; what it throws ends the load
 * @throws RefusedSnapshot with the reason, also when the thread itself fails
 */
export async function loadSnapshot(
  path: string,
  admit: (manifest: Manifest) => void = () => undefined,
): Promise<SnapshotImage> {
  const decision = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const order: LoaderOrder = { path, decision };
  const decide = (value: number) => {
    Atomics.store(decision, 0, value);
    Atomics.notify(decision, 0);
  };
  const loaded = Promise.withResolvers<SnapshotImage>();
  const loader = new Worker(new URL('./loader-worker.ts', import.meta.url), { workerData: order });
  loader.on('message', (message: LoaderMessage) => {
    if ('image' in message) loaded.resolve(message.image);
    else if ('refused' in message) {
      loaded.reject(new RefusedSnapshot(message.refused.reason, message.refused.message));
    } else {
      try {
        admit(message.declared);
        decide(READ_ON);
      } catch (error) {
        loaded.reject(error);
        decide(GIVE_UP);
      }
    }
  });
  loader.on('error', (error: unknown) => {
    loaded.reject(
      new RefusedSnapshot(
        'loader-failed',
        `the loader failed: ${error instanceof Error ? error.message : String(error)}`,
      ),
    );
  });
  loader.on('exit', (code) => {
    loaded.reject(
      new RefusedSnapshot('loader-failed', `the loader ended with code ${code} before it was done`),
    );
  });
  try {
    return await loaded.promise;
  } finally {
    await loader.terminate();
  }
}
