import { Worker } from 'node:worker_threads';
import type { OrganizationImage, SnapshotImage } from '../../store/organization-image.ts';
import type { Manifest } from '../format/manifest.ts';
import { type RefusalReason, RefusedSnapshot } from '../format/refused-snapshot.ts';
import type { OnProgress } from './read-snapshot.ts';

export interface LoadOptions {
  /** Is given the manifest before the content is read; what it throws ends the load. */
  readonly admit?: (manifest: Manifest) => void;
  readonly onProgress?: OnProgress | undefined;
  /** Ends the load, with its reason thrown. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Reads a snapshot file, and checks all of it, on a thread of its own.
 * @throws RefusedSnapshot with the reason, also when the thread itself fails
 */
export async function loadSnapshot(path: string, options: LoadOptions = {}): Promise<SnapshotImage> {
  const { signal } = options;
  signal?.throwIfAborted();
  const load = new Load(path, options);
  const breakOff = () => {
    load.fail(signal?.reason);
  };
  signal?.addEventListener('abort', breakOff);
  try {
    return await load.image;
  } finally {
    signal?.removeEventListener('abort', breakOff);
    await load.end();
  }
}

class Load {
  readonly #options: LoadOptions;
  readonly #decision = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  readonly #loaded = Promise.withResolvers<SnapshotImage>();
  readonly #worker: Worker | undefined;
  #declared: Manifest | undefined;
  readonly #organizations: OrganizationImage[] = [];

  constructor(path: string, options: LoadOptions) {
    this.#options = options;
    const isToTellProgress = options.onProgress !== undefined;
    try {
      this.#worker = this.#start({ path, isToTellProgress, decision: this.#decision });
    } catch (error) {
      this.fail(loaderFailed(error));
    }
  }

  get image(): Promise<SnapshotImage> {
    return this.#loaded.promise;
  }

  /** Ends the load with an error, unless it has ended. */
  fail(error: unknown): void {
    this.#loaded.reject(error);
  }

  async end(): Promise<void> {
    await this.#worker?.terminate();
  }

  #start(workerData: LoaderTask): Worker {
    const worker = new Worker(new URL('./loader.ts', import.meta.url), { workerData });
    worker.on('message', (message: LoaderMessage) => {
      this.#take(message);
    });
    worker.on('error', (error: unknown) => {
      this.fail(loaderFailed(error));
    });
    worker.on('exit', (code) => {
      this.fail(loaderFailed(`it ended with code ${code} before it was done`));
    });
    return worker;
  }

  #take(message: LoaderMessage): void {
    try {
      if ('progress' in message) this.#options.onProgress?.(...message.progress);
      else if ('declared' in message) this.#decide(message.declared);
      else if ('organization' in message) this.#organizations.push(message.organization);
      else if ('isComplete' in message) this.#finish();
      else throw new RefusedSnapshot(message.refused.reason, message.refused.message);
    } catch (error) {
      this.fail(error);
    }
  }

  #decide(declared: Manifest): void {
    this.#declared = declared;
    try {
      this.#options.admit?.(declared);
      this.#say(READ);
    } catch (error) {
      this.#say(GIVE_UP);
      throw error;
    }
  }

  #say(decision: number): void {
    Atomics.store(this.#decision, 0, decision);
    Atomics.notify(this.#decision, 0);
  }

  #finish(): void {
    if (this.#declared === undefined) throw loaderFailed('it did not say what it reads');
    const { snapshotId, producedAt } = this.#declared;
    this.#loaded.resolve({ snapshotId, producedAt, organizations: this.#organizations });
  }
}

function loaderFailed(error: unknown): RefusedSnapshot {
  const message = error instanceof Error ? error.message : String(error);
  return new RefusedSnapshot('loader-failed', `the loader failed: ${message}`);
}

/** The messages between the loader and the thread that starts it. */

export interface LoaderTask {
  readonly path: string;
  readonly isToTellProgress: boolean;
  /** One element: `UNDECIDED` until it is known whether the content is to be read. */
  readonly decision: Int32Array<SharedArrayBuffer>;
}

export const UNDECIDED = 0;
export const READ = 1;
export const GIVE_UP = 2;

export type LoaderMessage =
  /** The loader then waits for the decision. */
  | { readonly declared: Manifest }
  | { readonly progress: Parameters<OnProgress> }
  /**
   * One of the organizations that were declared, in their order. Each is a message of its own: the time to receive
   * buffers grows with the square of their number in a message.
   */
  | { readonly organization: OrganizationImage }
  /** All organizations were sent. */
  | { readonly isComplete: true }
  | { readonly refused: { readonly reason: RefusalReason; readonly message: string } };
