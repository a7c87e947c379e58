import { Worker } from 'node:worker_threads';
import type { OrganizationImage, SnapshotImage } from '../store/organization-image.ts';
import { GIVE_UP, READ_ON } from './loader-protocol.ts';
import type { LoaderMessage, LoaderOrder } from './loader-protocol.ts';
import type { Manifest } from './manifest.ts';
import type { OnProgress } from './read-content.ts';
import { RefusedSnapshot } from './refused-snapshot.ts';

export interface LoadOptions {
  /** Is told what the file declares before its content is read; what it throws ends the load. */
  readonly admit?: (manifest: Manifest) => void;
  /** Called now and then with how many rows of a table were read so far. */
  readonly onProgress?: OnProgress | undefined;
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
  const loaded = Promise.withResolvers<undefined>();
  let declared: Manifest | undefined;
  const organizations: OrganizationImage[] = [];
  const loader = startLoader(order);
  loader.on('message', (message: LoaderMessage) => {
    if ('organization' in message) organizations.push(message.organization);
    else if ('progress' in message) onProgress?.(...message.progress);
    else if ('isComplete' in message) loaded.resolve(undefined);
    else if ('refused' in message) {
      loaded.reject(new RefusedSnapshot(message.refused.reason, message.refused.message));
    } else {
      declared = message.declared;
      try {
        admit?.(declared);
        decide(READ_ON);
      } catch (error) {
        loaded.reject(error);
        decide(GIVE_UP);
      }
    }
  });
  loader.on('error', (error: unknown) => {
    loaded.reject(loaderFailed(error));
  });
  loader.on('exit', (code) => {
    loaded.reject(loaderFailed(`it ended with code ${code} before it was done`));
  });
  const breakOff = () => {
    loaded.reject(signal?.reason);
  };
  signal?.addEventListener('abort', breakOff);
  try {
    await loaded.promise;
    if (declared === undefined) throw loaderFailed('it did not say what it reads');
    const { snapshotId, producedAt } = declared;
    return { snapshotId, producedAt, organizations };
  } finally {
    signal?.removeEventListener('abort', breakOff);
    await loader.terminate();
  }
}

function startLoader(order: LoaderOrder): Worker {
  try {
    return new Worker(new URL('./loader-worker.ts', import.meta.url), { workerData: order });
  } catch (error) {
    throw loaderFailed(error);
  }
}

function loaderFailed(error: unknown): RefusedSnapshot {
  const what = error instanceof Error ? error.message : String(error);
  return new RefusedSnapshot('loader-failed', `the loader failed: ${what}`);
}
