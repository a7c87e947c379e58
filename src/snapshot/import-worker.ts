import { parentPort, workerData } from 'node:worker_threads';
import { eachLine } from './import-lines.ts';
import type { LineBlock } from './import-lines.ts';
import type { FieldProblem } from './import-schema.ts';
import { COLLECTIONS } from './layout.ts';
import type { CollectionLayout } from './layout.ts';
import { packedFields, RowPacker } from './packed-rows.ts';
import type { PackedRows } from './packed-rows.ts';
import { RecordReader } from './record-reader.ts';

/** A thread of the builder: reads blocks of lines into packed rows. */

export interface ImportTask {
  readonly collection: string;
  readonly block: LineBlock;
}

export interface BadLine extends FieldProblem {
  readonly line: number;
  /** The line as it stands in the file; undefined when it is no text, or too long for one. */
  readonly text: string | undefined;
}

export interface ImportedBlock {
  readonly rows: PackedRows;
  readonly bad: readonly BadLine[];
  /** How often fields were dropped, by name. */
  readonly dropped: ReadonlyMap<string, number>;
}

const { organizations } = workerData as { organizations: ReadonlySet<string> };
const readers = new Map<string, RecordReader>();

function readerOf(layout: CollectionLayout): RecordReader {
  let reader = readers.get(layout.name);
  if (reader === undefined) readers.set(layout.name, (reader = new RecordReader(layout, organizations)));
  return reader;
}

function readBlock(layout: CollectionLayout, block: LineBlock): ImportedBlock {
  const reader = readerOf(layout);
  const packer = new RowPacker(block.bytes.length * 2);
  const bad: BadLine[] = [];
  eachLine(
    block,
    (line, number) => {
      const reading = reader.read(line);
      if ('problem' in reading) bad.push({ line: number, text: line, ...reading.problem });
      else packer.add(reading.organizationId, number, reading.orderedBy, packedFields(layout, reading));
    },
    (reason, number) => bad.push({ line: number, text: undefined, field: '', reason }),
  );
  const dropped = new Map(reader.dropped);
  reader.dropped.clear();
  return { rows: packer.finish(), bad, dropped };
}

parentPort?.on('message', ({ collection, block }: ImportTask) => {
  const layout = COLLECTIONS.find(({ name }) => name === collection);
  if (layout === undefined) throw new TypeError(`no collection ${collection}`);
  const { buffer, byteOffset, length } = block.bytes;
  const imported = readBlock(layout, { ...block, bytes: Buffer.from(buffer, byteOffset, length) });
  parentPort?.postMessage(imported, [imported.rows.bytes.buffer]);
});
