import { Worker } from 'node:worker_threads';
import type { LoaderMessage, LoaderOrder } from './loader-protocol.ts';
import { RefusedSnapshot } from './refused-snapshot.ts';

/** A thread that reads a snapshot, or a part of it. */
export class LoaderThread {
  readonly #worker: Worker;

  /**
   * @param onFailure is told when it ends before it was complete, or cannot start
   * @throws RefusedSnapshot when there can be no such thread
   */
  constructor(
    order: LoaderOrder,
    onMessage: (message: LoaderMessage) => void,
    onFailure: (error: RefusedSnapshot) => void,
  ) {
    try {
      this.#worker = new Worker(new URL('./loader-worker.ts', import.meta.url), {
        workerData: order,
        transferList: [order.giver, order.taker].flatMap((end) => end?.port ?? []),
      });
    } catch (error) {
      throw loaderFailed(error);
    }
    let isComplete = false;
    this.#worker.on('message', (message: LoaderMessage) => {
      isComplete ||= 'isComplete' in message;
      onMessage(message);
    });
    this.#worker.on('error', (error: unknown) => {
      onFailure(loaderFailed(error));
    });
    this.#worker.on('exit', (code) => {
      if (!isComplete) onFailure(loaderFailed(`it ended with code ${code} before it was done`));
    });
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }
}

export function loaderFailed(error: unknown): RefusedSnapshot {
  const what = error instanceof Error ? error.message : String(error);
  return new RefusedSnapshot('loader-failed', `the loader failed: ${what}`);
}
