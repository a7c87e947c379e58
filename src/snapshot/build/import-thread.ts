import { parentPort, workerData } from 'node:worker_threads';
import { type CollectionLayout, COLLECTIONS } from '../format/layout.ts';
import { eachLine, type LineBlock } from './import-files.ts';
import type { FieldProblem } from './import-schema.ts';
import { RecordReader } from './record-reader.ts';
import { stagedRow, StagingFile } from './staging-file.ts';

/** A thread of the builder: reads blocks of lines, and stages their records in a file of its own. */

export type ImportTask =
  | { readonly collection: string; readonly block: LineBlock }
  /** The last task: to complete the staging file. */
  | { readonly isLast: true };

export interface ImportWorkerData {
  /** By id, the position of each organization in the order of the ids. */
  readonly organizations: ReadonlyMap<string, number>;
  readonly stagingFile: string;
}

export interface BadLine extends FieldProblem {
  readonly line: number;
  /** The line as it is in the file; undefined when it is no text, or too long. */
  readonly text: string | undefined;
}

export interface ImportedBlock {
  /** How many records were staged. */
  readonly records: number;
  readonly bad: readonly BadLine[];
  /** How often fields were dropped, by name. */
  readonly dropped: ReadonlyMap<string, number>;
}

const { organizations, stagingFile } = workerData as ImportWorkerData;
const staging = new StagingFile(stagingFile);
const readers = new Map<string, RecordReader>();

function readerOf(layout: CollectionLayout): RecordReader {
  let reader = readers.get(layout.name);
  if (reader === undefined) readers.set(layout.name, (reader = new RecordReader(layout, organizations)));
  return reader;
}

function readBlock(layout: CollectionLayout, block: LineBlock): ImportedBlock {
  const reader = readerOf(layout);
  let records = 0;
  const bad: BadLine[] = [];
  eachLine(
    block,
    (line, number) => {
      const reading = reader.read(line);
      if ('problem' in reading) bad.push({ line: number, text: line, ...reading.problem });
      else {
        staging.add(layout, stagedRow(layout, number, reading));
        records++;
      }
    },
    (reason, number) => bad.push({ line: number, text: undefined, field: '', reason }),
  );
  const dropped = new Map(reader.dropped);
  reader.dropped.clear();
  return { records, bad, dropped };
}

function run(task: ImportTask): ImportedBlock {
  if ('isLast' in task) {
    staging.finish();
    return { records: 0, bad: [], dropped: new Map() };
  }
  const layout = COLLECTIONS.find(({ name }) => name === task.collection);
  if (layout === undefined) throw new TypeError(`no collection ${task.collection}`);
  const { buffer, byteOffset, length } = task.block.bytes;
  return readBlock(layout, { ...task.block, bytes: Buffer.from(buffer, byteOffset, length) });
}

parentPort?.on('message', (task: ImportTask) => {
  parentPort?.postMessage(run(task));
});
