import { textIn } from '../../format/json-values.ts';
import { type CollectionLayout, COLLECTIONS } from '../../format/layout.ts';
import { beginsRun } from '../../format/schema.ts';
import { type LineBlock, linesOf } from '../import/import-files.ts';
import { LineNotes } from '../import/line-notes.ts';
import { BadLines } from '../import/problems.ts';
import { type BadOrganizations, type ReadRecord, RecordReader } from '../import/record-reader.ts';
import { columnValue, StagingFile } from './staging-file.ts';

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
  readonly bad: BadLines;
  readonly notes: Pick<LineNotes, 'dropped' | 'suspects'>;
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
    return { records: 0, bad: new BadLines(this.#data.keepsLines), notes: new LineNotes() };
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
    const bad = new BadLines(this.#data.keepsLines);
    const notes = new LineNotes();
    for (const line of linesOf(block)) {
      notes.line = line.number;
      notes.mentions = [];
      const reading =
        line.record === undefined ? { problems: [line.problem] } : reader.read(line.record, line.text, notes);
      if ('problems' in reading) {
        bad.add({ line: line.number, text: line.text, problems: reading.problems });
        const organization = this.#data.organizations.get(textIn(line.record?.['organizationId']));
        this.#staging.tables.addBad(reader.layout, line.number, organization, line.record);
      } else {
        this.#stage(reader.layout, line.number, reading);
        this.#staging.mentions.add(reading.organization, line.number, reading.id, notes.mentions);
        records++;
      }
    }
    return { records, bad, notes };
  }

  #stage(layout: CollectionLayout, line: number, record: ReadRecord): void {
    const { organization, id, orderedBy: instant, json } = record;
    const values = layout.columns.map((column) => columnValue(column, record));
    const staged = {
      origin: 'import',
      line,
      organization,
      instant,
      id,
      beginsRun: beginsRun(id),
      values,
      json,
    } as const;
    this.#staging.tables.add(layout, staged);
  }
}
