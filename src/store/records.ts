import { type Bytes, type Row, sharedUint32s, UINT32_BYTES, type Uint32s } from './memory/shared-arrays.ts';

export const COMMA = 0x2c;
export const QUOTE = 0x22;
export const BACKSLASH = 0x5c;
const COLON = 0x3a;

/**
 * Consecutive records as JSON text, each followed by a comma:
 *
 *     bytes     {"ticketId":"a",…},{"ticketId":"b",…},…,
 *     offsets   ^0                 ^1                  ^number of records
 *     idHashes  of the ids, for the indexes over them; 0 for records without an id
 *
 * So the bytes of any span, without the last comma, are the elements of a JSON array.
 */
export interface RecordRun {
  readonly bytes: Bytes;
  readonly offsets: Uint32s;
  readonly idHashes: Uint32s;
}

/** A run that has a buffer of its own, which the images of several snapshots may refer to. */
export interface SharedRun extends RecordRun {
  /** Its organization and digest. Runs with one key have one buffer. */
  readonly key: string;
}

export type SharedRuns = ReadonlyMap<SharedRun['key'], SharedRun>;

/** Returns the key of a run. A digest covers also the name of the collection. */
export function keyOfRun(organizationId: string, digest: string): string {
  return `${organizationId} ${digest}`;
}

export function isShared(run: object): run is SharedRun {
  return 'idHashes' in run && 'key' in run;
}

/** Records in list order. */
export interface RecordsImage {
  readonly runs: readonly RecordRun[];
  /** By run: its first row. At the end, the number of rows. */
  readonly firstRows: Uint32s;
  /** By row: its run. */
  readonly runOf: Uint32s;
}

/** Returns the places of the rows of runs with these numbers of records. */
export function placesOf(counts: readonly number[]): Omit<RecordsImage, 'runs'> {
  const firstRows = sharedUint32s(counts.length + 1);
  for (const [run, count] of counts.entries()) firstRows[run + 1] = firstRows[run] + count;
  const runOf = sharedUint32s(firstRows[counts.length]);
  for (const run of counts.keys()) runOf.fill(run, firstRows[run], firstRows[run + 1]);
  return { firstRows, runOf };
}

/** Returns a run in one buffer, for records of a length in all. */
export function newRun(count: number, length: number): RecordRun {
  const [hashesAt, bytesAt] = [(count + 1) * UINT32_BYTES, (2 * count + 1) * UINT32_BYTES];
  const buffer = new SharedArrayBuffer(bytesAt + length);
  return {
    bytes: new Uint8Array(buffer, bytesAt),
    offsets: new Uint32Array(buffer, 0, count + 1),
    idHashes: new Uint32Array(buffer, hashesAt, count),
  };
}

const NO_RECORDS = newRun(0, 0);

/** Returns a run that stands for another in a message to a thread that has it. */
export function referenceTo({ key }: SharedRun): SharedRun {
  return { ...NO_RECORDS, key };
}

/** Number of records in a run that the process makes. Its offsets do not exceed 32 bits. */
const RUN_RECORDS = 1024;

export function recordsImage(texts: readonly string[], runRecords = RUN_RECORDS): RecordsImage {
  const runs: RecordRun[] = [];
  for (let first = 0; first < texts.length; first += runRecords) {
    const records = texts.slice(first, first + runRecords).map((text) => Buffer.from(`${text},`));
    const run = newRun(
      records.length,
      records.reduce((sum, { length }) => sum + length, 0),
    );
    for (const [i, record] of records.entries()) {
      run.bytes.set(record, run.offsets[i]);
      run.offsets[i + 1] = run.offsets[i] + record.length;
    }
    runs.push(run);
  }
  return { runs, ...placesOf(runs.map(({ offsets }) => offsets.length - 1)) };
}

/** Returns the JSON text of one record, as a view of the image. */
export function recordAt({ runs, firstRows, runOf }: RecordsImage, row: Row): Buffer {
  const { bytes, offsets } = runs[runOf[row]];
  const i = row - firstRows[runOf[row]];
  return viewOf(bytes, offsets[i], offsets[i + 1] - 1);
}

/** Returns the length of a record with the comma after it. */
export function lengthAt({ runs, firstRows, runOf }: RecordsImage, row: Row): number {
  const { offsets } = runs[runOf[row]];
  const i = row - firstRows[runOf[row]];
  return offsets[i + 1] - offsets[i];
}

/** Returns the rows `from … to` as JSON texts, joined by commas. Each run that has some of them is one view. */
export function recordSpan(records: RecordsImage, from: Row, to: Row): Buffer[] {
  const views: Buffer[] = [];
  addSpan(views, records, from, to, true);
  return views;
}

/** Returns ascending rows as JSON texts, joined by commas. Each span of consecutive rows in a run is one view. */
export function recordsAt(records: RecordsImage, rows: Uint32s): Buffer[] {
  const views: Buffer[] = [];
  const last = rows.length - 1;
  for (let i = 0, from = 0; i <= last; i++) {
    if (i < last && rows[i + 1] === rows[i] + 1) continue;
    addSpan(views, records, rows[from], rows[i] + 1, i === last);
    from = i + 1;
  }
  return views;
}

/** Adds the views of rows, the last one without its last comma if it `isLast`. */
function addSpan(
  views: Buffer[],
  { runs, firstRows, runOf }: RecordsImage,
  from: Row,
  to: Row,
  isLast: boolean,
): void {
  for (let row = from; row < to;) {
    const run = runOf[row];
    const { bytes, offsets } = runs[run];
    const end = Math.min(to, firstRows[run + 1]);
    const comma = isLast && end === to ? 1 : 0;
    views.push(viewOf(bytes, offsets[row - firstRows[run]], offsets[end - firstRows[run]] - comma));
    row = end;
  }
}

function viewOf({ buffer, byteOffset }: Bytes, start: number, end: number): Buffer {
  return Buffer.from(buffer, byteOffset + start, end - start);
}

/** Returns the beginning of every record of a collection, `{"ticketId":`. */
export function recordPrefix(firstField: string): string {
  return `{${JSON.stringify(firstField)}:`;
}

/** Returns the first value of a stored record as JSON: a view of its bytes. */
export function firstValueOf(record: Buffer): Buffer {
  const start = record.indexOf(COLON) + 1;
  return record.subarray(start, endOfText(record, start + 1) + 1);
}

/** Returns the position of the quote that ends the text that begins at `start`. */
export function endOfText(bytes: Bytes, start: number): number {
  let at = start;
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at;
}
