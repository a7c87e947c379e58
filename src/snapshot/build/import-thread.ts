import { parentPort, workerData } from 'node:worker_threads';
import { textIn } from '../format/json-values.ts';
import { COLLECTIONS } from '../format/layout.ts';
import { type Findings, RecordReview } from '../review/record-review.ts';
import { type LineBlock, linesOf } from './import-files.ts';
import type { BadOrganizations } from './import-organizations.ts';
import { LineNotes } from './line-notes.ts';
import { BadLines } from './problems.ts';
import { RecordReader } from './record-reader.ts';
import { StagingFile } from './staging-file.ts';

/** A thread of the builder: reads blocks of lines and writes their records to its own staging file. */

export type ImportTask =
  | { readonly collection: string; readonly block: LineBlock }
  /** The last task completes the staging file. */
  | { readonly isLast: true };

export interface ImportWorkerData {
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
  /** Findings of the review, by line. */
  readonly findings: Uint32Array;
}

const { organizations, badOrganizations, keepsLines, stagingFile } = workerData as ImportWorkerData;
const staging = new StagingFile(stagingFile);
const readers = new Map<string, Reader>();

interface Reader {
  readonly records: RecordReader;
  readonly review: RecordReview;
}

parentPort?.on('message', (task: ImportTask) => {
  parentPort?.postMessage(run(task));
});

function run(task: ImportTask): ImportedBlock {
  if ('isLast' in task) {
    staging.finish();
    const [bad, notes] = [new BadLines(keepsLines), new LineNotes()];
    return { records: 0, bad, notes, findings: new Uint32Array() };
  }
  // A transferred Buffer arrives as a Uint8Array.
  const { buffer, byteOffset, length } = task.block.bytes;
  const bytes = Buffer.from(buffer, byteOffset, length);
  return readBlock(readerOf(task.collection), { ...task.block, bytes });
}

function readerOf(collection: string): Reader {
  let reader = readers.get(collection);
  if (reader === undefined) {
    const layout = COLLECTIONS.find(({ name }) => name === collection);
    if (layout === undefined) throw new TypeError(`no collection ${collection}`);
    reader = {
      records: new RecordReader(layout, organizations, badOrganizations),
      review: new RecordReview(layout),
    };
    readers.set(collection, reader);
  }
  return reader;
}

function readBlock({ records: reader, review }: Reader, block: LineBlock): ImportedBlock {
  let records = 0;
  const bad = new BadLines(keepsLines);
  const notes = new LineNotes();
  const findings: Findings = [];
  for (const line of linesOf(block)) {
    notes.line = line.number;
    const reading =
      line.text === undefined
        ? { problems: [line.problem], imported: undefined }
        : reader.read(line.text, notes);
    if ('problems' in reading) {
      bad.add({ line: line.number, text: line.text, problems: reading.problems });
      const organization = organizations.get(textIn(reading.imported?.['organizationId']));
      staging.addBad(reader.layout, line.number, organization, reading.imported);
    } else {
      staging.add(reader.layout, line.number, reading);
      review.addFindings(reading.organization, line.number, reading.served, findings);
      records++;
    }
  }
  return { records, bad, notes, findings: Uint32Array.from(findings) };
}
