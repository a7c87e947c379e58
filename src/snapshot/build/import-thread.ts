import { parentPort, workerData } from 'node:worker_threads';
import { textIn } from '../format/json-values.ts';
import { COLLECTIONS } from '../format/layout.ts';
import { type LineBlock, linesOf } from './import-files.ts';
import type { BadOrganizations } from './import-organizations.ts';
import type { FieldCounts } from './import-schema.ts';
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
  /** Undeclared fields. */
  readonly dropped: FieldCounts;
}

const { organizations, badOrganizations, keepsLines, stagingFile } = workerData as ImportWorkerData;
const staging = new StagingFile(stagingFile);
const readers = new Map<string, RecordReader>();

parentPort?.on('message', (task: ImportTask) => {
  parentPort?.postMessage(run(task));
});

function run(task: ImportTask): ImportedBlock {
  if ('isLast' in task) {
    staging.finish();
    return { records: 0, bad: new BadLines(keepsLines), dropped: new Map() };
  }
  // A transferred Buffer arrives as a Uint8Array.
  const { buffer, byteOffset, length } = task.block.bytes;
  const bytes = Buffer.from(buffer, byteOffset, length);
  return readBlock(readerOf(task.collection), { ...task.block, bytes });
}

function readerOf(collection: string): RecordReader {
  let reader = readers.get(collection);
  if (reader === undefined) {
    const layout = COLLECTIONS.find(({ name }) => name === collection);
    if (layout === undefined) throw new TypeError(`no collection ${collection}`);
    readers.set(collection, (reader = new RecordReader(layout, organizations, badOrganizations)));
  }
  return reader;
}

function readBlock(reader: RecordReader, block: LineBlock): ImportedBlock {
  let records = 0;
  const bad = new BadLines(keepsLines);
  const dropped: FieldCounts = new Map();
  for (const line of linesOf(block)) {
    const reading =
      line.text === undefined
        ? { problems: [line.problem], imported: undefined }
        : reader.read(line.text, dropped);
    if ('problems' in reading) {
      bad.add({ line: line.number, text: line.text, problems: reading.problems });
      const organization = organizations.get(textIn(reading.imported?.['organizationId']));
      staging.addBad(reader.layout, line.number, organization, reading.imported);
    } else {
      staging.add(reader.layout, line.number, reading);
      records++;
    }
  }
  return { records, bad, dropped };
}
