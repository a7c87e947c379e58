import { setTimeout as delay } from 'node:timers/promises';
import { type MessagePort, Worker } from 'node:worker_threads';
import type { LoadedImage, SnapshotImage } from '../../store/organization-image.ts';
// The loader inherits the key of the hashes, and the counter of slabs.
import '../../store/index/texts.ts';
import '../../store/slab-writer.ts';
import type { Admitted, KnownList } from '../../store/registry/store-view.ts';
import type { Manifest } from '../format/manifest.ts';
import { RefusedSnapshot } from '../format/refused-snapshot.ts';
import { newQueue, type QueueEnd } from './part-queue.ts';
import type { FileReaderData } from './reader.ts';
import type { OnProgress, ReadOptions } from './read-snapshot.ts';

export interface LoaderData {
  /** One element: 1 once an answer is sent. The loader waits until it is 1. */
  readonly admission: Int32Array<SharedArrayBuffer>;
}

export interface LoaderTask extends Pick<ReadOptions, 'isThorough'> {
  readonly path: string;
  /** Queue of a thread that reads the file; without it, the loader reads. */
  readonly queue?: QueueEnd;
}

/** The lists in memory, one in each message, then the answer. */
export type AdmissionMessage = KnownList | Omit<Admitted, 'known'>;

export type LoaderMessage =
  | { readonly declared: Manifest; readonly bytesToCopy?: number }
  | { readonly progress: Parameters<OnProgress> }
  /** The next of the declared organizations. */
  | { readonly organization: LoadedImage }
  | { readonly complete: Omit<SnapshotImage, 'organizations'> }
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
  /** Whether a second thread reads the file, for which a processor should be free; by default true. */
  readonly readsAhead?: boolean;
}

const END_MS = 1000;

/** Number of threads of loads. That of a load that was given up stays until the disk responds. */
let running = 0;
/** A loader that has loaded its program, for the next load. */
let spare: ReturnType<typeof startLoader> | undefined;

export function hasLoaderThreads(): boolean {
  return running > 0;
}

/**
 * Reads and checks a snapshot file on the loader thread, and on another one that reads ahead if `readsAhead`.
 * A thread that waits for the disk cannot be ended. It and its memory stay until the disk responds.
 * @throws RefusedSnapshot, also when a thread fails or takes too long
 */
export async function loadSnapshot(path: string, options: LoadOptions = {}): Promise<SnapshotImage> {
  const { admit = admitAll, onProgress, isThorough, timeoutSeconds, signal, readsAhead = true } = options;
  signal?.throwIfAborted();
  const { promise: loaded, resolve, reject } = Promise.withResolvers<SnapshotImage>();
  // It is not awaited if a thread cannot be started.
  loaded.catch(() => undefined);
  const threads: Worker[] = [];
  const watch = (thread: Worker) => {
    running++;
    threads.push(thread);
    thread.ref();
    thread.on('exit', (code) => {
      running--;
      reject(loaderFailed(`it exited with code ${code} before it was done`));
    });
    thread.on('error', (error: unknown) => {
      reject(loaderFailed(error));
    });
  };
  const abort = () => {
    reject(signal?.reason);
  };
  signal?.addEventListener('abort', abort);
  const giveUp = () => {
    reject(new RefusedSnapshot('timeout', `it was not loaded within ${timeoutSeconds} s`));
  };
  const deadline = timeoutSeconds === undefined ? undefined : setTimeout(giveUp, timeoutSeconds * 1000);
  const organizations: LoadedImage[] = [];
  try {
    const { worker: loader, admission } = spare ?? startLoader();
    spare = undefined;
    watch(loader);
    const receive = async (message: LoaderMessage) => {
      if ('progress' in message) onProgress?.(...message.progress);
      else if ('declared' in message) {
        const { known, ...admitted } = await admit(message.declared, message.bytesToCopy);
        const messages: readonly AdmissionMessage[] = [...known, admitted];
        for (const one of messages) loader.postMessage(one);
        Atomics.store(admission, 0, 1);
        Atomics.notify(admission, 0);
      } else if ('organization' in message) organizations.push(message.organization);
      else if ('complete' in message) resolve({ ...message.complete, organizations });
      // The exit of the thread may follow in the same turn, before a promise is rejected.
      else reject(new RefusedSnapshot(...message.refused));
    };
    loader.on('message', (message: LoaderMessage) => void receive(message).catch(reject));
    const task = { path, isThorough };
    if (readsAhead) {
      const [ofReader, ofLoader] = newQueue();
      const data: FileReaderData = { path, queue: ofReader };
      watch(start(new URL('./reader.ts', import.meta.url), data, ofReader.port));
      loader.postMessage({ ...task, queue: ofLoader } satisfies LoaderTask, [ofLoader.port]);
    } else loader.postMessage(task satisfies LoaderTask);
    return await loaded;
  } finally {
    signal?.removeEventListener('abort', abort);
    clearTimeout(deadline);
    const ended = Promise.all(threads.map((thread) => thread.terminate()));
    await Promise.race([ended, delay(END_MS, undefined, { ref: false })]);
  }
}

function admitAll(): Promise<Admitted> {
  return Promise.resolve({ known: [], isAdmitted: true });
}

/** Starts the loader of the next load, which then need not wait for its program. It keeps nothing of an earlier load. */
export function prepareLoad(): void {
  try {
    spare ??= startLoader();
  } catch {
    // The next load tries again, and reports the failure.
    return;
  }
  const { worker } = spare;
  worker.unref();
  const drop = () => {
    if (spare?.worker === worker) spare = undefined;
  };
  worker.once('error', drop);
  worker.once('exit', drop);
}

function startLoader() {
  const admission = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  return { worker: start(new URL('./loader.ts', import.meta.url), { admission }), admission };
}

function start(
  program: URL,
  workerData: LoaderData | FileReaderData,
  ...transferList: MessagePort[]
): Worker {
  try {
    return new Worker(program, { workerData, transferList });
  } catch (error) {
    throw loaderFailed(error);
  }
}

function loaderFailed(error: unknown): RefusedSnapshot {
  const message = error instanceof Error ? error.message : String(error);
  return new RefusedSnapshot('loader-failed', `the loader failed: ${message}`);
}
