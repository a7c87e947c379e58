import { setTimeout as delay } from 'node:timers/promises';
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import type { LoadedImage, SnapshotImage, SnapshotOrigin } from '../../store/organization-image.ts';
// The loader inherits the key of the hashes, and the counter of slabs.
import '../../store/index/texts.ts';
import '../../store/slab-writer.ts';
import type { Admitted, KnownList } from '../../store/registry/store-view.ts';
import type { Manifest } from '../format/manifest.ts';
import { RefusedSnapshot } from '../format/refused-snapshot.ts';
import { COUNTS, type QueueEnd } from './part-queue.ts';
import type { OnProgress, ReadOptions } from './read-snapshot.ts';

/** What a thread of a load has from its start. */
export interface ThreadData {
  readonly queue: QueueEnd;
  /** One element: 1 once an answer is sent. The loader waits until it is 1. */
  readonly admission: Int32Array<SharedArrayBuffer>;
}

export type LoaderTask = Pick<ReadOptions, 'isThorough' | 'parsedRuns'>;

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

/** The threads of a load, and the admission that they share. */
type LoadThreads = ReturnType<typeof startThreads>;

/** Number of threads of loads. That of a load that was given up stays until the disk responds. */
let running = 0;
/** Threads that have loaded their program, for the next load. */
let spare: LoadThreads | undefined;

export function hasLoaderThreads(): boolean {
  return running > 0;
}

/**
 * Reads and checks a snapshot file on two threads: the reader, and the loader.
 * A thread that waits for the disk cannot be ended. It and its memory stay until the disk responds.
 * @throws RefusedSnapshot, also when a thread fails or takes too long
 */
export async function loadSnapshot(path: string, options: LoadOptions = {}): Promise<SnapshotImage> {
  const { admit = admitAll, onProgress, isThorough, parsedRuns, timeoutSeconds, signal } = options;
  signal?.throwIfAborted();
  const { promise: loaded, resolve, reject } = Promise.withResolvers<SnapshotImage>();
  const { reader, loader, admission } = spare ?? startThreads();
  spare = undefined;
  for (const thread of [reader, loader]) {
    running++;
    thread.ref();
    thread.on('exit', (code) => {
      running--;
      reject(loaderFailed(`it exited with code ${code} before it was done`));
    });
    thread.on('error', (error: unknown) => {
      reject(loaderFailed(error));
    });
  }
  const organizations: LoadedImage[] = [];
  const receive = async (message: LoaderMessage) => {
    if ('progress' in message) onProgress?.(...message.progress);
    else if ('declared' in message) {
      const { known, isAdmitted } = await admit(message.declared, message.bytesToCopy);
      const messages: readonly AdmissionMessage[] = [...known, { isAdmitted }];
      for (const one of messages) loader.postMessage(one);
      Atomics.store(admission, 0, 1);
      Atomics.notify(admission, 0);
    } else if ('organization' in message) organizations.push(message.organization);
    else if ('complete' in message) resolve({ ...message.complete, organizations });
    // The exit of the thread may follow in the same turn, before a promise is rejected.
    else reject(new RefusedSnapshot(...message.refused));
  };
  loader.on('message', (message: LoaderMessage) => void receive(message).catch(reject));
  reader.postMessage(path);
  loader.postMessage({ isThorough, parsedRuns } satisfies LoaderTask);
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
    const ended = Promise.all([reader.terminate(), loader.terminate()]);
    await Promise.race([ended, delay(END_MS, undefined, { ref: false })]);
  }
}

function admitAll(): Promise<Admitted> {
  return Promise.resolve({ known: [], isAdmitted: true });
}

function startThreads() {
  const { port1, port2 } = new MessageChannel();
  const counts = new Int32Array(new SharedArrayBuffer(COUNTS * Int32Array.BYTES_PER_ELEMENT));
  const admission = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const start = (program: string, port: MessagePort): Worker => {
    const workerData: ThreadData = { queue: { port, counts }, admission };
    return new Worker(new URL(program, import.meta.url), { workerData, transferList: [port] });
  };
  let reader: Worker | undefined;
  try {
    reader = start('./reader.ts', port1);
    return { reader, loader: start('./loader.ts', port2), admission };
  } catch (error) {
    void reader?.terminate();
    throw loaderFailed(error);
  }
}

/** Starts the threads of the next load, which then need not wait for their programs. */
export function prepareLoad(): void {
  if (spare !== undefined) return;
  let threads: LoadThreads;
  try {
    threads = startThreads();
  } catch {
    // The next load tries again, and reports the failure.
    return;
  }
  spare = threads;
  for (const thread of [threads.reader, threads.loader]) {
    thread.unref();
    const drop = () => {
      if (spare === threads) spare = undefined;
    };
    thread.on('error', drop);
    thread.on('exit', drop);
  }
}

function loaderFailed(error: unknown): RefusedSnapshot {
  const message = error instanceof Error ? error.message : String(error);
  return new RefusedSnapshot('loader-failed', `the loader failed: ${message}`);
}
