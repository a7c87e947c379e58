import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { LineBlock } from './import-lines.ts';
import type { ImportedBlock, ImportTask } from './import-worker.ts';

/** Blocks under way for each thread: one that is read and one that waits, so that no thread waits for us. */
const BLOCKS_PER_THREAD = 2;
const MOST_THREADS = 8;
/** Records live for the length of a line: a small nursery is swept as fast, and each thread has one. */
const YOUNG_GENERATION_MB = 12;

/** The threads that read the import. */
export class ImportThreads {
  readonly #threads: readonly ImportThread[];
  #next = 0;

  constructor(organizations: ReadonlySet<string>) {
    const count = Math.min(availableParallelism(), MOST_THREADS);
    this.#threads = Array.from({ length: count }, () => new ImportThread(organizations));
  }

  /** Reads the blocks of a collection's file on all threads, and hands them on in their order. */
  async *read(collection: string, blocks: AsyncIterable<LineBlock>): AsyncGenerator<ImportedBlock> {
    const underWay: Promise<ImportedBlock>[] = [];
    try {
      for await (const block of blocks) {
        underWay.push(this.#threads[this.#next++ % this.#threads.length].run({ collection, block }));
        if (underWay.length >= this.#threads.length * BLOCKS_PER_THREAD) yield await shift(underWay);
      }
      while (underWay.length > 0) yield await shift(underWay);
    } finally {
      await Promise.allSettled(underWay);
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.close()));
  }
}

/** Takes the first of a queue off when it is there; one that fails stays, for whoever settles the queue. */
async function shift(queue: Promise<ImportedBlock>[]): Promise<ImportedBlock> {
  const imported = await queue[0];
  void queue.shift();
  return imported;
}

class ImportThread {
  readonly #worker: Worker;
  readonly #waiting: PromiseWithResolvers<ImportedBlock>[] = [];
  /** Why the thread answers no more. */
  #failure: { readonly error: unknown } | undefined;

  constructor(organizations: ReadonlySet<string>) {
    this.#worker = new Worker(new URL('./import-worker.ts', import.meta.url), {
      workerData: { organizations },
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
    });
    this.#worker.on('message', (imported: ImportedBlock) => this.#waiting.shift()?.resolve(imported));
    this.#worker.on('error', (error) => {
      this.#fail(error);
    });
    this.#worker.on('exit', (code) => {
      this.#fail(new Error(`a thread of the builder ended with code ${code}`));
    });
  }

  run(task: ImportTask): Promise<ImportedBlock> {
    const waiting = Promise.withResolvers<ImportedBlock>();
    if (this.#failure === undefined) {
      this.#waiting.push(waiting);
      this.#worker.postMessage(task);
    } else waiting.reject(this.#failure.error);
    // It may wait in a queue for a while: who takes it from there hears of the failure.
    waiting.promise.catch(() => undefined);
    return waiting.promise;
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }

  #fail(error: unknown): void {
    this.#failure ??= { error };
    for (const waiting of this.#waiting.splice(0)) waiting.reject(error);
  }
}
