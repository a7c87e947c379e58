import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { LoadedImage, SnapshotImage, SnapshotOrigin } from '../../store/organization-image.ts';
// The loader inherits the key of the hashes, and the counter of slabs.
import '../../store/index/texts.ts';
import '../../store/slab-writer.ts';
import type { Admitted, KnownList } from '../../store/registry/store-view.ts';
import type { Manifest } from '../format/manifest.ts';
import { RefusedSnapshot } from '../format/refused-snapshot.ts';
import type { OnProgress, ReadOptions } from './read-snapshot.ts';

export interface LoaderTask extends Pick<ReadOptions, 'isThorough' | 'parsedRuns'> {
  readonly path: string;
  /** One element: 1 once an answer is sent. The loader waits until it is 1. */
  readonly admission: Int32Array<SharedArrayBuffer>;
}

/** The lists in memory, one in each message, then the answer. */
export type AdmissionMessage = KnownList | Omit<Admitted, 'known'>;

export type LoaderMessage =
  | { readonly declared: Manifest; readonly bytesToCopy?: number }
  | { readonly progress: Parameters<OnProgress> }
  /** The next of the declared organizations. */
  | { readonly organization: LoadedImage }
  | { readonly complete: SnapshotOrigin }
  | { readonly refused: ConstructorParameters<typeof RefusedSnapshot> };

interface LoadOptions extends Omit<ReadOptions, 'admit'> {
  /**
   * Called with the manifest before any content is read; throws to refuse the snapshot. If it does not admit it yet, it is
   * called again with the bytes of records that are not in memory. The load waits for the promise.
   */
  readonly admit?: (manifest: Manifest, bytesToCopy?: number) => Promise<Admitted>;
  /** Time after which the load is given up, in seconds; default: no limit. */
  readonly timeoutSeconds?: number;
  /** Aborts the load, which then rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
}

const END_MS = 1000;

/** Threads of all loads. That of a load that was given up stays until the disk responds. */
let threads = 0;

export function hasLoaderThreads(): boolean {
  return threads > 0;
}

/**
 * Reads and checks a snapshot file on the loader thread.
 * A thread that waits for the disk cannot be ended. It and its memory stay until the disk responds.
 * @throws RefusedSnapshot, also when the thread fails or takes too long
 */
export async function loadSnapshot(path: string, options: LoadOptions = {}): Promise<SnapshotImage> {
  const { admit = admitAll, onProgress, isThorough, parsedRuns, timeoutSeconds, signal } = options;
  signal?.throwIfAborted();
  const { promise: loaded, resolve, reject } = Promise.withResolvers<SnapshotImage>();
  const admission = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const worker = startLoader({ path, isThorough, parsedRuns, admission });
  threads++;
  worker.on('exit', (code) => {
    threads--;
    reject(loaderFailed(`it exited with code ${code} before it was done`));
  });
  worker.on('error', (error: unknown) => {
    reject(loaderFailed(error));
  });
  const organizations: LoadedImage[] = [];
  const receive = async (message: LoaderMessage) => {
    if ('progress' in message) onProgress?.(...message.progress);
    else if ('declared' in message) {
      const { known, isAdmitted } = await admit(message.declared, message.bytesToCopy);
      const messages: readonly AdmissionMessage[] = [...known, { isAdmitted }];
      for (const one of messages) worker.postMessage(one);
      Atomics.store(admission, 0, 1);
      Atomics.notify(admission, 0);
    } else if ('organization' in message) organizations.push(message.organization);
    else if ('complete' in message) resolve({ ...message.complete, organizations });
    // The exit of the thread may follow in the same turn, before a promise is rejected.
    else reject(new RefusedSnapshot(...message.refused));
  };
  worker.on('message', (message: LoaderMessage) => void receive(message).catch(reject));
  const abort = () => {
    reject(signal?.reason);
  };
  signal?.addEventListener('abort', abort);
  const giveUp = () => {
    reject(new RefusedSnapshot('timeout', `it was not loaded within ${timeoutSeconds} s`));
  };
  const deadline = timeoutSeconds === undefined ? undefined : setTimeout(giveUp, timeoutSeconds * 1000);
  try {
    return await loaded;
  } finally {
    signal?.removeEventListener('abort', abort);
    clearTimeout(deadline);
    await Promise.race([worker.terminate(), delay(END_MS, undefined, { ref: false })]);
  }
}

function admitAll(): Promise<Admitted> {
  return Promise.resolve({ known: [], isAdmitted: true });
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
