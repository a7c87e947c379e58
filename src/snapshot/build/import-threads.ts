import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { LineBlock } from './import-files.ts';
import type { ImportedBlock, ImportTask, ImportWorkerData } from './import-thread.ts';

/** SQLite attaches at most ten files to a connection. */
const MAX_THREADS = 8;
/** A thread reads one block while the next one waits, so that it is never idle. */
const BLOCKS_PER_THREAD = 2;
/** Bounds the memory of the threads. Records are short-lived, so a small young generation suffices. */
const YOUNG_GENERATION_MB = 12;

/** The threads that read an import. All but the first start when the others are busy: a small import needs one. */
export class ImportThreads {
  /** The output of the threads, complete after `finish`. */
  readonly stagingFiles: string[] = [];
  readonly #threads: ImportThread[] = [];
  readonly #count = Math.min(availableParallelism(), MAX_THREADS);
  readonly #shared: Omit<ImportWorkerData, 'stagingFile'>;
  readonly #folder: string;

  /**
   * @param shared data of all threads
   * @param folder folder of the staging files
   */
  constructor(shared: Omit<ImportWorkerData, 'stagingFile'>, folder: string) {
    this.#shared = shared;
    this.#folder = folder;
    this.#start();
  }

  /** Reads the blocks of a collection's file on all threads. Yields the results in file order. */
  async *read(
    collection: string,
    blocks: AsyncIterable<LineBlock> | Iterable<LineBlock>,
  ): AsyncGenerator<ImportedBlock> {
    const pending: Promise<ImportedBlock>[] = [];
    try {
      for await (const block of blocks) {
        pending.push(this.#leastBusy().run({ collection, block }));
        if (pending.length < this.#count * BLOCKS_PER_THREAD) continue;
        yield await pending[0];
        void pending.shift();
      }
      for (const result of pending) yield await result;
    } finally {
      await Promise.allSettled(pending);
    }
  }

  /** Completes the staging files. */
  async finish(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.run({ isLast: true })));
  }

  /** Terminates the threads. */
  async close(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.close()));
  }

  #start(): ImportThread {
    const stagingFile = join(this.#folder, `staging-${this.#threads.length}.sqlite`);
    const thread = new ImportThread({ ...this.#shared, stagingFile });
    this.stagingFiles.push(stagingFile);
    this.#threads.push(thread);
    return thread;
  }

  #leastBusy(): ImportThread {
    const thread = this.#threads.reduce((one, other) => (other.tasks < one.tasks ? other : one));
    return thread.tasks > 0 && this.#threads.length < this.#count ? this.#start() : thread;
  }
}

class ImportThread {
  readonly #worker: Worker;
  /** Tasks without a result, in order: the thread completes them one after the other. */
  readonly #pending: PromiseWithResolvers<ImportedBlock>[] = [];
  /** Set once the thread has failed or ended. */
  #failure: { readonly error: unknown } | undefined;

  constructor(workerData: ImportWorkerData) {
    this.#worker = new Worker(new URL('./import-thread.ts', import.meta.url), {
      workerData,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
    });
    this.#worker.on('message', (imported: ImportedBlock) => this.#pending.shift()?.resolve(imported));
    this.#worker.on('error', (error) => {
      this.#fail(error);
    });
    this.#worker.on('exit', (code) => {
      this.#fail(new Error(`an import thread exited with code ${code}`));
    });
  }

  /** Number of tasks without a result. */
  get tasks(): number {
    return this.#pending.length;
  }

  run(task: ImportTask): Promise<ImportedBlock> {
    const result = Promise.withResolvers<ImportedBlock>();
    if (this.#failure === undefined) {
      this.#pending.push(result);
      this.#worker.postMessage(task, 'block' in task ? [task.block.bytes.buffer] : []);
    } else result.reject(this.#failure.error);
    // The caller may await the result much later; a rejection must not count as unhandled until then.
    result.promise.catch(() => undefined);
    return result.promise;
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }

  #fail(error: unknown): void {
    this.#failure ??= { error };
    for (const result of this.#pending.splice(0)) result.reject(error);
  }
}
