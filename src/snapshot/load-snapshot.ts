import { Worker } from 'node:worker_threads';
import type { SnapshotImage } from '../store/organization-image.ts';
import { GIVE_UP, READ_ON } from './loader-protocol.ts';
import type { LoaderMessage, LoaderOrder } from './loader-protocol.ts';
import type { Manifest } from './manifest.ts';
import type { OnProgress } from './read-content.ts';
import { RefusedSnapshot } from './refused-snapshot.ts';

export interface LoadOptions {
  /** Is told what the file declares before its content is read; what it throws ends the load. */
  readonly admit?: (manifest: Manifest) => void;
  /** Called now and then with how many rows of a table were read so far. */
  readonly onProgress?: OnProgress;
  /** Ends the load, with its reason thrown. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Reads a snapshot file, and checks all of it, on a thread of its own.
 * @throws RefusedSnapshot with the reason, also when the thread itself fails
 */
export async function loadSnapshot(path: string, options: LoadOptions = {}): Promise<SnapshotImage> {
  const { admit, onProgress, signal } = options;
  signal?.throwIfAborted();
  const decision = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const order: LoaderOrder = { path, isToTellProgress: onProgress !== undefined, decision };
  const decide = (value: number) => {
    Atomics.store(decision, 0, value);
    Atomics.notify(decision, 0);
  };
  const loaded = Promise.withResolvers<SnapshotImage>();
  const loader = new Worker(new URL('./loader-worker.ts', import.meta.url), { workerData: order });
  loader.on('message', (message: LoaderMessage) => {
    if ('image' in message) loaded.resolve(message.image);
    else if ('progress' in message) onProgress?.(...message.progress);
    else if ('refused' in message) {
      loaded.reject(new RefusedSnapshot(message.refused.reason, message.refused.message));
    } else {
      try {
        admit?.(message.declared);
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
  const breakOff = () => {
    loaded.reject(signal?.reason);
  };
  signal?.addEventListener('abort', breakOff);
  try {
    return await loaded.promise;
  } finally {
    signal?.removeEventListener('abort', breakOff);
    await loader.terminate();
  }
}
