import { on } from 'node:events';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type Database from 'better-sqlite3';
import type { CollectionName } from '../../../contract/operations.ts';
import { byCollection, type CollectionLayout } from '../../format/layout.ts';
import { MEGABYTE } from '../../../store/memory/shared-arrays.ts';
import type { LineBlock } from '../import/import-files.ts';
import { LineNotes, readBlock } from '../import/line-notes.ts';
import { compileReader, type ReadLine } from '../import/record-reader.ts';
import { Mentions } from './warnings.ts';
import { StagingTables } from './staging-file.ts';
import { newDatabase } from '../../write/new-file.ts';

/** SQLite attaches at most ten files to a connection. Each thread has one, and the calling thread another. */
const MAX_THREADS = 8;
/** A thread reads one block while the next one waits, so that it is never idle. */
const BLOCKS_PER_THREAD = 2;
/** Bounds the memory of the threads. Records are short-lived, so a small young generation suffices. */
const YOUNG_GENERATION_MB = 12;

/** Bytes of lines up to which an import is small: reading them takes less time than starting a thread. */
const SMALL_BYTES = MEGABYTE;

/** Reads an import: its beginning at once, and the rest on threads. */
export class ImportThreads implements AsyncDisposable {
  readonly #stagingFiles: string[] = [];
  readonly #data: Omit<ReaderData, 'stagingFile'>;
  readonly #folder: string;
  readonly #own: ImportReader;
  #threads: readonly ImportThread[] = [];
  #bytes = 0;
  /** Number of blocks for the threads, which take turns. */
  #blocks = 0;

  constructor(data: Omit<ReaderData, 'stagingFile'>, folder: string) {
    this.#data = data;
    this.#folder = folder;
    this.#own = new ImportReader(this.#newReaderData());
  }

  /** Reads the blocks of a collection's file. Yields the results in file order. */
  async *read(collection: CollectionName, blocks: AsyncIterable<LineBlock>): AsyncGenerator<LineNotes> {
    const pending: Promise<LineNotes>[] = [];
    try {
      for await (const block of blocks) {
        this.#bytes += block.bytes.length;
        if (this.#bytes <= SMALL_BYTES) {
          yield this.#own.run({ collection, block });
          continue;
        }
        const result = this.#nextThread().run({ collection, block });
        // It is awaited much later; until then, its rejection must not count as unhandled.
        result.catch(() => undefined);
        pending.push(result);
        if (pending.length < this.#threads.length * BLOCKS_PER_THREAD) continue;
        yield await pending[0];
        void pending.shift();
      }
      for (const result of pending) yield await result;
    } finally {
      await Promise.allSettled(pending);
    }
  }

  /** Completes the staging files, and ends the threads. Returns the paths. */
  async finish(): Promise<readonly string[]> {
    this.#own.run({ isLast: true });
    await Promise.all(this.#threads.map((thread) => thread.run({ isLast: true })));
    await this[Symbol.asyncDispose]();
    return this.#stagingFiles;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#own.close();
    await Promise.all(this.#threads.map((thread) => thread.terminate()));
  }

  #nextThread(): ImportThread {
    if (this.#threads.length === 0) {
      const length = Math.min(availableParallelism(), MAX_THREADS);
      this.#threads = Array.from({ length }, () => new ImportThread(this.#newReaderData()));
    }
    return this.#threads[this.#blocks++ % this.#threads.length];
  }

  #newReaderData(): ReaderData {
    const stagingFile = join(this.#folder, `staging-${this.#stagingFiles.length}.sqlite`);
    this.#stagingFiles.push(stagingFile);
    return { ...this.#data, stagingFile };
  }
}

class ImportThread extends Worker {
  /** The results, in the order of the tasks. They end when the thread exits. */
  readonly #results: AsyncIterator<readonly LineNotes[], undefined>;

  constructor(workerData: ReaderData) {
    const resourceLimits = { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB };
    super(new URL('./import-thread.ts', import.meta.url), { workerData, resourceLimits });
    this.#results = on(this, 'message', { close: ['exit'] });
  }

  async run(task: ImportTask): Promise<LineNotes> {
    this.postMessage(task);
    const result = await this.#results.next();
    if (result.done === true) throw new Error('an import thread exited');
    return result.value[0];
  }
}

export type ImportTask =
  | { readonly collection: CollectionName; readonly block: LineBlock }
  /** The last task completes the staging file. */
  | { readonly isLast: true };

export interface ReaderData {
  /** Positions of the organizations in the order of their ids, by id. */
  readonly organizations: ReadonlyMap<string, number>;
  /** Ids of organizations that are bad; the empty text for an unknown one. */
  readonly badOrganizations: ReadonlySet<string>;
  /** In milliseconds since the epoch. */
  readonly producedAt: number;
  /** Ids of organizations whose lines are skipped. */
  readonly held: ReadonlyMap<string, unknown>;
  /** A file that does not exist yet. */
  readonly stagingFile: string;
}

/** Reads blocks of lines, and writes their records to a staging file of its own. */
export class ImportReader {
  readonly #database: Database.Database;
  readonly #held: ReadonlyMap<string, unknown>;
  readonly #tables: StagingTables;
  readonly #mentions: Mentions;
  readonly #producedAt: number;
  readonly #readers: Readonly<Record<CollectionName, { layout: CollectionLayout; read: ReadLine }>>;

  constructor({ organizations, badOrganizations, held, producedAt, stagingFile }: ReaderData) {
    this.#held = held;
    this.#producedAt = producedAt;
    this.#database = newDatabase(stagingFile);
    this.#tables = new StagingTables(this.#database);
    this.#mentions = new Mentions(this.#database);
    this.#readers = byCollection((layout) => {
      return { layout, read: compileReader(layout, organizations, badOrganizations) };
    });
  }

  run(task: ImportTask): LineNotes {
    if ('isLast' in task) {
      this.#mentions.write();
      this.#database.exec('COMMIT');
      this.close();
      return new LineNotes();
    }
    const { layout, read } = this.#readers[task.collection];
    // A Buffer of another thread arrives as a Uint8Array.
    const { buffer, byteOffset, length } = task.block.bytes;
    const bytes = Buffer.from(buffer, byteOffset, length);
    return readBlock({ ...task.block, bytes }, this.#held, (imported, notes, text) => {
      notes.producedAt = this.#producedAt;
      const reading = read(imported, notes, text);
      if ('problems' in reading) return reading.problems;
      this.#tables.add(layout, 'import', notes.line, reading);
      this.#mentions.add(reading.organization, notes.line, reading.id, notes.mentions);
      return [];
    });
  }

  close(): void {
    this.#database.close();
  }
}
