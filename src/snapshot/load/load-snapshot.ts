import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import {
  byList,
  type ListImage,
  type OrganizationImage,
  type SnapshotImage,
  type SnapshotOrigin,
  withRuns,
} from '../../store/organization-image.ts';
// The loader inherits the key of its hashes.
import '../../store/index/texts.ts';
import { referenceTo, type SharedRun } from '../../store/records.ts';
import { contentOf, keyOf, type KnownContent } from '../../store/registry/store-view.ts';
import type { Manifest } from '../format/manifest.ts';
import { RefusedSnapshot } from '../format/refused-snapshot.ts';
import type { OnProgress, ReadOptions } from './read-snapshot.ts';

export interface LoaderTask extends Pick<ReadOptions, 'isThorough' | 'parsedRuns'> {
  readonly path: string;
  /** One element: 1 once the declared snapshot is admitted. The loader waits until it is 1. */
  readonly admission: Int32Array<SharedArrayBuffer>;
}

/** A known run, or a known list by its key, with references to its runs. */
export type KnownMessage = SharedRun | readonly [key: string, list: ListImage];

export type LoaderMessage =
  | { readonly declared: Manifest }
  | { readonly progress: Parameters<OnProgress> }
  /** The next of the declared organizations, with references to known runs. */
  | { readonly organization: OrganizationImage }
  | { readonly complete: SnapshotOrigin }
  | { readonly refused: ConstructorParameters<typeof RefusedSnapshot> };

interface LoadOptions extends Omit<ReadOptions, 'admit'> {
  /** As that of `ReadOptions`. The load waits for the promise. */
  readonly admit?: (manifest: Manifest) => Promise<KnownContent>;
  /** Time after which the load is given up, in seconds; default: no limit. */
  readonly timeoutSeconds?: number;
  /** Aborts the load, which then rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
}

const END_MS = 1000;
/** Maximum number of runs or lists in a message. The time to send its buffers grows with the square of their number. */
const BATCH = 8;

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
  const { admit, onProgress, isThorough, parsedRuns, timeoutSeconds, signal } = options;
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
  const organizations: OrganizationImage[] = [];
  let known = contentOf([]);
  const receive = async (message: LoaderMessage) => {
    if ('progress' in message) onProgress?.(...message.progress);
    else if ('declared' in message) {
      known = (await admit?.(message.declared)) ?? known;
      const lists = Array.from(known.lists, ([key, list]) => [key, withRuns(list, referenceTo)] as const);
      const all: readonly KnownMessage[] = [...known.runs.values(), ...lists];
      for (let i = 0; i < all.length; i += BATCH) worker.postMessage(all.slice(i, i + BATCH));
      Atomics.store(admission, 0, 1);
      Atomics.notify(admission, 0);
    } else if ('organization' in message) {
      const { organization } = message;
      const lists = byList((name) => {
        const list = organization.lists[name];
        const kept = known.lists.get(keyOf(organization.organizationId, list));
        return kept ?? withRuns(list, (run) => known.runs.get(run.key) ?? run);
      });
      organizations.push({ ...organization, lists });
    } else if ('complete' in message) resolve({ ...message.complete, organizations });
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
