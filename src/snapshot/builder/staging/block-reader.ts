import type Database from 'better-sqlite3';
import { MEGABYTE } from '../../../store/memory/shared-arrays.ts';
import { textIn } from '../../format/json-values.ts';
import { COLLECTIONS } from '../../format/layout.ts';
import { type LineBlock, linesOf } from '../import/import-files.ts';
import { LineNotes } from '../import/line-notes.ts';
import { type BadOrganizations, RecordReader } from '../import/record-reader.ts';
import { Mentions } from './mentions.ts';
import { newDatabase, StagingTables } from './staging-file.ts';

/** A small cache suffices, since rows are only appended. */
const CACHE_KILOBYTES = (4 * MEGABYTE) / 1024;

export type ImportTask =
  | { readonly collection: string; readonly block: LineBlock }
  /** The last task completes the staging file. */
  | { readonly isLast: true };

export interface ReaderData {
  /** Positions of the organizations in the order of their ids, by id. */
  readonly organizations: ReadonlyMap<string, number>;
  readonly badOrganizations: BadOrganizations;
  /** Whether the results have the bad lines themselves. */
  readonly keepsLines: boolean;
  /** A file that does not exist yet. */
  readonly stagingFile: string;
}

/** The number of records of a block, and the notes on its lines. */
export type ImportedBlock = ReturnType<BlockReader['run']>;

/** Reads blocks of lines, and writes their records to a staging file of its own. */
export class BlockReader {
  readonly #data: ReaderData;
  readonly #database: Database.Database;
  readonly #tables: StagingTables;
  readonly #mentions: Mentions;
  readonly #readers: ReadonlyMap<string, RecordReader>;

  constructor(data: ReaderData) {
    const { organizations, badOrganizations, stagingFile } = data;
    this.#data = data;
    this.#database = newDatabase(stagingFile);
    this.#database.pragma(`cache_size = -${CACHE_KILOBYTES}`);
    this.#database.exec('BEGIN');
    this.#tables = new StagingTables(this.#database);
    this.#mentions = new Mentions(this.#database);
    this.#readers = new Map(
      COLLECTIONS.map((layout) => [layout.name, new RecordReader(layout, organizations, badOrganizations)]),
    );
  }

  run(task: ImportTask) {
    let records = 0;
    const notes = new LineNotes(this.#data.keepsLines);
    if ('isLast' in task) {
      this.#mentions.flush();
      this.#database.exec('COMMIT');
      this.close();
      return { records, notes };
    }
    const reader = this.#readers.get(task.collection);
    if (reader === undefined) throw new TypeError(`no collection ${task.collection}`);
    // A transferred Buffer arrives as a Uint8Array.
    const { buffer, byteOffset, length } = task.block.bytes;
    const bytes = Buffer.from(buffer, byteOffset, length);
    for (const line of linesOf({ ...task.block, bytes })) {
      notes.line = line.number;
      notes.mentions = [];
      const reading =
        line.record === undefined ? { problems: [line.problem] } : reader.read(line.record, line.text, notes);
      if ('problems' in reading) {
        notes.reject(reading.problems, line.text);
        const organization = this.#data.organizations.get(textIn(line.record?.['organizationId']));
        this.#tables.addBad(reader.layout, line, organization);
      } else {
        this.#tables.add(reader.layout, 'import', line.number, reading);
        this.#mentions.add(reading.organization, line.number, reading.id, notes.mentions);
        records++;
      }
    }
    return { records, notes };
  }

  close(): void {
    this.#database.close();
  }
}
