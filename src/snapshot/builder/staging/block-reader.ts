import { textIn } from '../../format/json-values.ts';
import { COLLECTIONS } from '../../format/layout.ts';
import { type LineBlock, linesOf } from '../import/import-files.ts';
import { LineNotes } from '../import/line-notes.ts';
import { type BadOrganizations, RecordReader } from '../import/record-reader.ts';
import { StagingFile } from './staging-file.ts';

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
  readonly stagingFile: string;
}

/** The result of a task. */
export interface ImportedBlock {
  /** Number of staged records. */
  readonly records: number;
  readonly notes: LineNotes;
}

/** Reads blocks of lines, and writes their records to a staging file of its own. */
export class BlockReader {
  readonly #data: ReaderData;
  readonly #staging: StagingFile;
  readonly #readers = new Map<string, RecordReader>();

  constructor(data: ReaderData) {
    this.#data = data;
    this.#staging = new StagingFile(data.stagingFile);
  }

  run(task: ImportTask): ImportedBlock {
    if ('block' in task) {
      // A transferred Buffer arrives as a Uint8Array.
      const { buffer, byteOffset, length } = task.block.bytes;
      const bytes = Buffer.from(buffer, byteOffset, length);
      return this.#read(this.#readerOf(task.collection), { ...task.block, bytes });
    }
    this.#staging.finish();
    return { records: 0, notes: new LineNotes() };
  }

  /** Closes the staging file, also before its end. */
  close(): void {
    this.#staging.close();
  }

  #readerOf(collection: string): RecordReader {
    let reader = this.#readers.get(collection);
    if (reader === undefined) {
      const layout = COLLECTIONS.find(({ name }) => name === collection);
      if (layout === undefined) throw new TypeError(`no collection ${collection}`);
      const { organizations, badOrganizations } = this.#data;
      reader = new RecordReader(layout, organizations, badOrganizations);
      this.#readers.set(collection, reader);
    }
    return reader;
  }

  #read(reader: RecordReader, block: LineBlock): ImportedBlock {
    let records = 0;
    const notes = new LineNotes(this.#data.keepsLines);
    const { tables, mentions } = this.#staging;
    for (const line of linesOf(block)) {
      notes.line = line.number;
      notes.mentions = [];
      const reading =
        line.record === undefined ? { problems: [line.problem] } : reader.read(line.record, line.text, notes);
      if ('problems' in reading) {
        notes.reject(reading.problems, line.text);
        const organization = this.#data.organizations.get(textIn(line.record?.['organizationId']));
        tables.addBad(reader.layout, line.number, organization, line.record);
      } else {
        tables.add(reader.layout, 'import', line.number, reading);
        mentions.add(reading.organization, line.number, reading.id, notes.mentions);
        records++;
      }
    }
    return { records, notes };
  }
}
