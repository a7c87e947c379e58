import { isUtf8 } from 'node:buffer';
import { endOfText, recordPrefix } from '../../store/index/id-index.ts';
import { addToHash, EMPTY_HASH, encodeTexts, finishHash, type Texts } from '../../store/index/texts.ts';
import { type Bytes, sharedBytes, sharedFloats, type Uint32s } from '../../store/memory/shared-arrays.ts';
import { COMMA, type RecordsImage } from '../../store/records.ts';
import type { ListLayout } from '../format/layout.ts';
import { rowCount, type RunEntry } from '../format/manifest.ts';
import { RefusedSnapshot } from '../format/refused-snapshot.ts';
import { MAX_RECORD_BYTES } from '../format/schema.ts';
import type { RecordForm } from './record-form.ts';
import type { Run } from './run-reader.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const BRACE = 0x7d;
const FIRST_VISIBLE = 0x20;

/** Copies the records of a list into shared memory, run by run. */
export class RecordsLoader {
  readonly image: RecordsImage;
  readonly #table: string;
  readonly #firstField: string;
  /** The bytes before the first value of every record: `{"ticketId":"`. */
  readonly #prefix: Bytes;
  readonly #form: RecordForm | undefined;
  /** Rows loaded so far. */
  #count = 0;

  /**
   * @param firstField the first field of every record, a text that is not empty
   * @param runs all runs of the list, in order
   * @param form the form to check the records for; undefined when they are not parsed
   */
  constructor(
    { table }: ListLayout,
    firstField: string,
    runs: readonly RunEntry[],
    form: RecordForm | undefined,
  ) {
    // In the image, a comma follows the last record of each run as well.
    const bytes = runs.reduce((sum, { recordBytes }) => sum + recordBytes + 1, 0);
    this.image = { bytes: sharedBytes(bytes), offsets: sharedFloats(rowCount(runs) + 1) };
    this.#table = table;
    this.#firstField = firstField;
    this.#prefix = Buffer.from(`${recordPrefix(firstField)}"`);
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
    const copy = this.#copy(records);
    run.checkDigest(copy);
    if (!isUtf8(copy)) throw this.#refusedRun(`at row ${firstRow} are not UTF-8`);
    const form = this.#form?.knownRuns?.has(digest) === true ? undefined : this.#form;
    return this.#divide(copy, run.lengths(), form);
  }

  #copy(records: Buffer): Buffer {
    const { bytes, offsets } = this.image;
    const copy = Buffer.from(bytes.buffer, offsets[this.#count], records.length + 1);
    records.copy(copy);
    copy[records.length] = COMMA;
    return copy.subarray(0, records.length);
  }

  /**
   * Divides the last copied run into records, and returns their first values.
   * @param lengths of the records in bytes
   * @param form the form to check the records for
   * @throws RefusedSnapshot when a record differs from its declared length, is too large, does not begin with the first
   * field, or does not have the form of its list
   */
  #divide(records: Buffer, lengths: Uint32s, form: RecordForm | undefined): Texts {
    const { offsets } = this.image;
    const starts = new Uint32Array(lengths.length);
    const ends = new Uint32Array(lengths.length);
    const hashes = new Uint32Array(lengths.length);
    let isPlain = true;
    let start = 0;
    for (let i = 0; i < lengths.length; i++) {
      const row = this.#count + i;
      const end = start + lengths[i];
      const isLast = i + 1 === lengths.length;
      if (isLast ? end !== records.length : records[end] !== COMMA)
        throw this.#refused(row, 'differs from its declared length');
      if (lengths[i] > MAX_RECORD_BYTES) throw this.#refused(row, `exceeds ${MAX_RECORD_BYTES} bytes`);
      if (records[end - 1] !== BRACE) throw this.#refused(row, 'does not end with }');
      if (!this.#hasPrefix(records, start)) throw this.#misbegun(row);
      let at = start + this.#prefix.length;
      starts[i] = at;
      let hash = EMPTY_HASH;
      for (; at < end && records[at] !== QUOTE; at++) {
        if (records[at] === BACKSLASH || records[at] < FIRST_VISIBLE) isPlain = false;
        hash = addToHash(hash, records[at]);
      }
      hashes[i] = finishHash(hash);
      ends[i] = at;
      if (at === end || at === starts[i]) throw this.#misbegun(row);
      if (form !== undefined && form.read(records.toString('latin1', start, end)) === undefined)
        throw this.#refused(row, `is not ${form.name}`);
      offsets[row + 1] = offsets[row] + lengths[i] + 1;
      start = end + 1;
    }
    const values = isPlain
      ? { bytes: records, starts, ends, hashes }
      : this.#decodedValues(records, starts, lengths);
    this.#count += lengths.length;
    return values;
  }

  #hasPrefix(records: Bytes, start: number): boolean {
    const prefix = this.#prefix;
    for (let i = 0; i < prefix.length; i++) if (records[start + i] !== prefix[i]) return false;
    return true;
  }

  /** Decodes values, some with escapes. Lookups compare ids in the form of JSON.stringify, so each must have it. */
  #decodedValues(bytes: Buffer, starts: Uint32s, lengths: Uint32s): Texts {
    let recordEnd = -1;
    const decoded = Array.from(starts, (start, i) => {
      recordEnd += 1 + lengths[i];
      const end = endOfText(bytes, start, recordEnd);
      const text = bytes.toString('utf8', start - 1, Math.min(end + 1, recordEnd));
      const value = decode(text);
      if (value?.isWellFormed() !== true || JSON.stringify(value) !== text)
        throw this.#misbegun(this.#count + i);
      return value;
    });
    return encodeTexts(decoded);
  }

  #misbegun(row: number): RefusedSnapshot {
    return this.#refused(row, `does not begin with its ${this.#firstField}`);
  }

  #refusedRun(problem: string): RefusedSnapshot {
    return new RefusedSnapshot('inconsistent', `the records of ${this.#table} ${problem}`);
  }

  #refused(row: number, problem: string): RefusedSnapshot {
    return new RefusedSnapshot('inconsistent', `record ${row} of ${this.#table} ${problem}`);
  }
}

function decode(json: string): string | undefined {
  try {
    return String(JSON.parse(json));
  } catch {
    return undefined;
  }
}
