import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { CollectionName } from '../../contract/operations.ts';
import { COLLECTIONS } from '../format/layout.ts';
import { importFile, type LineBlock, readBlocks } from './import-files.ts';
import type { ImportedBlock, ImportTask, ImportWorkerData } from './import-thread.ts';
import type { Rejections } from './rejections.ts';

export interface StageOptions {
  /** The import folder. */
  readonly input: string;
  /** The folder of the staging files. */
  readonly folder: string;
  /** In their order. */
  readonly organizationIds: readonly string[];
  /** Called now and then with how many records of a collection were read; what it throws ends the reading. */
  readonly onBlock: (collection: CollectionName, records: number) => void;
}

export interface StagedImport {
  /** Files with the records of the import, one of each thread that read it. */
  readonly stagingFiles: readonly string[];
  /** How often fields were dropped that are not declared, by file and field. */
  readonly dropped: ReadonlyMap<string, number>;
}

/** Reads the collections of an import folder into staging files, on several threads, and rejects the lines that are wrong. */
export async function stageImport(
  { input, folder, organizationIds, onBlock }: StageOptions,
  rejections: Rejections,
): Promise<StagedImport> {
  const dropped = new Map<string, number>();
  const organizations = new Map(organizationIds.map((id, position) => [id, position]));
  const threads = new ImportThreads(organizations, folder);
  try {
    for (const { name: collection } of COLLECTIONS) {
      const file = importFile(input, collection);
      if (file === undefined) continue;
      let read = 0;
      for await (const block of threads.read(collection, readBlocks(input, file))) {
        for (const { text, ...problem } of block.bad) rejections.add({ file, ...problem }, text);
        for (const [field, count] of block.dropped) {
          const name = `${file}: ${field}`;
          dropped.set(name, (dropped.get(name) ?? 0) + count);
        }
        read += block.records;
        onBlock(collection, read);
      }
    }
    await threads.finish();
    return { stagingFiles: threads.stagingFiles, dropped };
  } finally {
    await threads.close();
  }
}

/** Blocks under way for each thread: one that is read and one that waits, so that no thread is idle. */
const BLOCKS_PER_THREAD = 2;
/** SQLite attaches ten files to a connection at most. */
const MOST_THREADS = 8;
/** Records live for the length of a line: a small nursery is swept as fast, and each thread has one. */
const YOUNG_GENERATION_MB = 12;

/** The threads that read the import. */
export class ImportThreads {
  /** The files in which the threads stage what they read; complete once they have finished. */
  readonly stagingFiles: readonly string[];
  readonly #threads: readonly ImportThread[];
  #next = 0;

  /**
   * @param organizations position of each in the order of the ids
   * @param folder of the staging files
   */
  constructor(organizations: ReadonlyMap<string, number>, folder: string) {
    const count = Math.min(availableParallelism(), MOST_THREADS);
    this.stagingFiles = Array.from({ length: count }, (_, i) => join(folder, `staging-${i}.sqlite`));
    this.#threads = this.stagingFiles.map((stagingFile) => new ImportThread({ organizations, stagingFile }));
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

  /** Completes the staging files. */
  async finish(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.run({ isLast: true })));
  }

  /** Ends the threads, whatever they do. */
  async close(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.close()));
  }
}

/** Takes the first of a queue off when it is there. One that fails stays, to be settled with the queue. */
async function shift(queue: Promise<ImportedBlock>[]): Promise<ImportedBlock> {
  const imported = await queue[0];
  void queue.shift();
  return imported;
}

class ImportThread {
  readonly #worker: Worker;
  readonly #waiting: PromiseWithResolvers<ImportedBlock>[] = [];
  /** Why the thread does not answer any more. */
  #failure: { readonly error: unknown } | undefined;

  constructor(workerData: ImportWorkerData) {
    this.#worker = new Worker(new URL('./import-thread.ts', import.meta.url), {
      workerData,
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
      this.#worker.postMessage(task, 'block' in task ? [task.block.bytes.buffer] : []);
    } else waiting.reject(this.#failure.error);
    // It may stay in a queue for a while, and is handled when it is taken from there.
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
