import { Worker } from 'node:worker_threads';
import type { OrganizationImage, SnapshotImage } from '../../store/organization-image.ts';
import type { Manifest } from '../format/manifest.ts';
import { type RefusalReason, RefusedSnapshot } from '../format/refused-snapshot.ts';
import type { OnProgress } from './read-snapshot.ts';

/** The `workerData` of the loader thread. */
export interface LoaderTask {
  readonly path: string;
  readonly reportsProgress: boolean;
  /** One element: 1 once the declared snapshot is admitted. The loader waits until it is 1. */
  readonly admission: Int32Array<SharedArrayBuffer>;
}

/** A message from the loader thread. */
export type LoaderMessage =
  | { readonly declared: Manifest }
  | { readonly progress: Parameters<OnProgress> }
  /** The next of the declared organizations. Each has a separate message, as in `workers/protocol.ts`. */
  | { readonly organization: OrganizationImage }
  /** All organizations were sent. */
  | { readonly isComplete: true }
  | { readonly refused: { readonly reason: RefusalReason; readonly message: string } };

export interface LoadOptions {
  /** Called with the manifest before any content is read; throws to end the load. */
  readonly admit?: (manifest: Manifest) => void;
  readonly onProgress?: OnProgress | undefined;
  /** Aborts the load, which then rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Reads and checks a snapshot file on the loader thread.
 * @throws RefusedSnapshot, also when the thread fails
 */
export async function loadSnapshot(path: string, options: LoadOptions = {}): Promise<SnapshotImage> {
  const { admit, onProgress, signal } = options;
  signal?.throwIfAborted();
  const { promise: loaded, resolve, reject } = Promise.withResolvers<SnapshotImage>();
  const admission = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const organizations: OrganizationImage[] = [];
  let declared: Manifest | undefined;
  const receive = (message: LoaderMessage) => {
    if ('progress' in message) onProgress?.(...message.progress);
    else if ('declared' in message) {
      ({ declared } = message);
      admit?.(declared);
      Atomics.store(admission, 0, 1);
      Atomics.notify(admission, 0);
    } else if ('organization' in message) organizations.push(message.organization);
    else if ('refused' in message) throw new RefusedSnapshot(message.refused.reason, message.refused.message);
    else if (declared === undefined) throw loaderFailed('it did not declare the snapshot');
    else resolve({ snapshotId: declared.snapshotId, producedAt: declared.producedAt, organizations });
  };
  const abort = () => {
    reject(signal?.reason);
  };
  signal?.addEventListener('abort', abort);
  let worker: Worker | undefined;
  try {
    worker = startLoader({ path, reportsProgress: onProgress !== undefined, admission });
    worker.on('message', (message: LoaderMessage) => {
      try {
        receive(message);
      } catch (error) {
        reject(error);
      }
    });
    worker.on('error', (error: unknown) => {
      reject(loaderFailed(error));
    });
    worker.on('exit', (code) => {
      reject(loaderFailed(`it exited with code ${code} before it was done`));
    });
    return await loaded;
  } finally {
    signal?.removeEventListener('abort', abort);
    await worker?.terminate();
  }
}

function startLoader(workerData: LoaderTask): Worker {
  try {
    return new Worker(new URL('./loader.ts', import.meta.url), { workerData });
  } catch (error) {
    throw loaderFailed(error);
  }
}

function loaderFailed(error: unknown): RefusedSnapshot {
  const message = error instanceof Error ? error.message : String(error);
  return new RefusedSnapshot('loader-failed', `the loader failed: ${message}`);
}
