import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { CollectionName } from '../../contract/operations.ts';
import { REFERENTS_FIRST } from '../format/layout.ts';
import type { Review } from '../review/review.ts';
import { type EarlierSnapshot, IMPORTED_ANEW } from './earlier-snapshot.ts';
import { importFile, type LineBlock, readBlocks } from './import-files.ts';
import type { BadOrganizations } from './import-organizations.ts';
import type { ImportNotes } from './line-notes.ts';
import type { ImportedBlock, ImportTask, ImportWorkerData } from './import-thread.ts';
import type { Rejections } from './rejections.ts';

/** SQLite attaches at most ten files to a connection. */
const MAX_THREADS = 8;
/** A thread reads one block while the next one waits, so that it is never idle. */
const BLOCKS_PER_THREAD = 2;
/** Bounds the memory of the threads. Records are short-lived, so a small young generation suffices. */
const YOUNG_GENERATION_MB = 12;

export interface StageOptions {
  /** The import folder. */
  readonly input: string;
  /** The folder of the staging files. */
  readonly folder: string;
  /** Ids in ascending order. */
  readonly organizationIds: readonly string[];
  readonly badOrganizations: BadOrganizations;
  /** The snapshot whose events and sessions are read as well. */
  readonly base: EarlierSnapshot | undefined;
  /** Receives the findings of the records. */
  readonly review: Review;
  readonly notes: ImportNotes;
  /** Receives the number of records of a collection read so far. An exception ends the import. */
  readonly onBlock: (collection: CollectionName, records: number) => void;
}

export interface StagedImport {
  /** Files with the records of the import, one for each thread. */
  readonly stagingFiles: readonly string[];
  /** Number of records in them, without those of the base. */
  readonly records: number;
}

/** Reads the collections of an import folder into staging files, and rejects bad lines. */
export async function stageImport(
  { input, folder, organizationIds, badOrganizations, base, review, notes, onBlock }: StageOptions,
  rejections: Rejections,
): Promise<StagedImport> {
  const organizations = new Map(organizationIds.map((id, position) => [id, position]));
  const { keepsLines } = rejections;
  const threads = new ImportThreads({ organizations, badOrganizations, keepsLines }, folder);
  let records = 0;
  try {
    for (const layout of REFERENTS_FIRST) {
      const { name: collection } = layout;
      const file = importFile(input, collection);
      if (file !== undefined) {
        let read = 0;
        for await (const block of threads.read(collection, readBlocks(input, file))) {
          rejections.add(file, block.bad);
          review.add(layout, block.findings);
          notes.add(file, block.notes);
          read += block.records;
          onBlock(collection, read);
        }
        records += read;
      }
      if (base === undefined || !IMPORTED_ANEW.includes(layout)) continue;
      // The fields that are dropped are those that the build derives again.
      for await (const { bad } of threads.read(collection, base.lines(layout)))
        rejections.add(base.path, bad);
    }
    await threads.finish();
    return { stagingFiles: threads.stagingFiles, records };
  } finally {
    await threads.close();
  }
}

/** The threads that read an import. */
export class ImportThreads {
  /** The output of the threads, complete after `finish`. */
  readonly stagingFiles: readonly string[];
  readonly #threads: readonly ImportThread[];
  #next = 0;

  /**
   * @param shared what all threads know
   * @param folder folder of the staging files
   */
  constructor(shared: Omit<ImportWorkerData, 'stagingFile'>, folder: string) {
    const count = Math.min(availableParallelism(), MAX_THREADS);
    this.stagingFiles = Array.from({ length: count }, (_, i) => join(folder, `staging-${i}.sqlite`));
    this.#threads = this.stagingFiles.map((stagingFile) => new ImportThread({ ...shared, stagingFile }));
  }

  /** Reads the blocks of a collection's file on all threads. Yields the results in file order. */
  async *read(
    collection: string,
    blocks: AsyncIterable<LineBlock> | Iterable<LineBlock>,
  ): AsyncGenerator<ImportedBlock> {
    const pending: Promise<ImportedBlock>[] = [];
    try {
      for await (const block of blocks) {
        pending.push(this.#threads[this.#next++ % this.#threads.length].run({ collection, block }));
        if (pending.length < this.#threads.length * BLOCKS_PER_THREAD) continue;
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
