import { isUtf8 } from 'node:buffer';
import type { Texts } from '../../store/index/texts.ts';
import { sharedBytes, sharedFloats, type Uint32s } from '../../store/memory/shared-arrays.ts';
import { COMMA, firstValues } from '../../store/record-bytes.ts';
import type { RecordsImage } from '../../store/records.ts';
import type { ListLayout } from '../format/layout.ts';
import { rowCount, type RunEntry } from '../format/manifest.ts';
import { RefusedSnapshot } from '../format/refused-snapshot.ts';
import { MAX_RECORD_BYTES } from '../format/schema.ts';
import type { RecordForm } from './record-form.ts';
import type { Run } from './run-reader.ts';

const BRACE = 0x7d;

/** Copies the records of a list into shared memory, run by run. */
export class RecordsLoader {
  readonly image: RecordsImage;
  readonly #layout: ListLayout;
  readonly #firstField: string;
  readonly #form: RecordForm | undefined;

  /**
   * @param firstField the first field of every record, a text that is not empty
   * @param runs all runs of the list, in order
   * @param form the form to check the records for; undefined when they are not parsed
   */
  constructor(
    layout: ListLayout,
    firstField: string,
    runs: readonly RunEntry[],
    form: RecordForm | undefined,
  ) {
    // In the image, a comma follows the last record of each run as well.
    const bytes = runs.reduce((sum, { recordBytes }) => sum + recordBytes + 1, 0);
    this.image = { bytes: sharedBytes(bytes), offsets: sharedFloats(rowCount(runs) + 1) };
    this.#layout = layout;
    this.#firstField = firstField;
    this.#form = form;
  }

  /**
   * Copies, checks and divides the records of the next run. Returns their first values.
   * The digest is checked over the copy, so it covers the bytes that are served.
   * @throws RefusedSnapshot
   */
  add(run: Run): Texts {
    const { firstRow, recordBytes, digest } = run.entry;
    const { records } = run;
    if (records.length !== recordBytes) {
      run.checkDigest();
      throw this.#refusedRun(
        `have ${records.length} bytes at row ${firstRow}, "runs" declares ${recordBytes}`,
      );
    }
    const copy = this.#copy(records, firstRow);
    run.checkDigest(copy);
    if (!isUtf8(copy)) throw this.#refusedRun(`at row ${firstRow} are not UTF-8`);
    const { offsets, values } = divideRecords(this.#layout, this.#firstField, run, copy);
    const isKnown = this.#form?.knownRuns?.has(digest) === true;
    if (this.#form !== undefined && !isKnown) this.#checkForm(this.#form, copy, offsets, firstRow);
    const start = this.image.offsets[firstRow];
    for (let i = 1; i < offsets.length; i++) this.image.offsets[firstRow + i] = start + offsets[i];
    return values;
  }

  #copy(records: Buffer, firstRow: number): Buffer {
    const { bytes, offsets } = this.image;
    const copy = Buffer.from(bytes.buffer, offsets[firstRow], records.length + 1);
    records.copy(copy);
    copy[records.length] = COMMA;
    return copy.subarray(0, records.length);
  }

  #checkForm(form: RecordForm, records: Buffer, offsets: Uint32s, firstRow: number): void {
    for (let i = 0; i + 1 < offsets.length; i++) {
      if (form.read(records.toString('latin1', offsets[i], offsets[i + 1] - 1)) === undefined)
        throw refused(this.#layout, firstRow + i, `is not ${form.name}`);
    }
  }

  #refusedRun(problem: string): RefusedSnapshot {
    return new RefusedSnapshot('inconsistent', `the records of ${this.#layout.table} ${problem}`);
  }
}

/** The parts of a run's records. */
export interface DividedRecords {
  /** Offset of each record, and of the end, as if a comma followed the last record. */
  readonly offsets: Uint32s;
  /** The first value of each record: its id, or the collection of a deletion. */
  readonly values: Texts;
}

/**
 * Divides the records of a run by their declared lengths, and reads their first values.
 * @param bytes the records, or a copy of them
 * @throws RefusedSnapshot when a record differs from its declared length, is too large, or does not begin with the first
 *   field
 */
export function divideRecords(
  layout: ListLayout,
  firstField: string,
  run: Run,
  bytes: Buffer = run.records,
): DividedRecords {
  const refuse = (i: number, problem: string): never => {
    throw refused(layout, run.entry.firstRow + i, problem);
  };
  const lengths = run.lengths();
  const offsets = new Uint32Array(lengths.length + 1);
  for (let i = 0; i < lengths.length; i++) {
    const end = offsets[i] + lengths[i];
    const isLast = i + 1 === lengths.length;
    if (isLast ? end !== bytes.length : bytes[end] !== COMMA) refuse(i, 'differs from its declared length');
    if (lengths[i] > MAX_RECORD_BYTES) refuse(i, `exceeds ${MAX_RECORD_BYTES} bytes`);
    if (bytes[end - 1] !== BRACE) refuse(i, 'does not end with }');
    offsets[i + 1] = end + 1;
  }
  const values = firstValues(bytes, offsets, firstField, (i) =>
    refuse(i, `does not begin with its ${firstField}`),
  );
  return { offsets, values };
}

function refused({ table }: ListLayout, row: number, problem: string): RefusedSnapshot {
  return new RefusedSnapshot('inconsistent', `record ${row} of ${table} ${problem}`);
}
