import { isUtf8 } from 'node:buffer';
import { IdIndexBuilder, recordPrefix } from '../../store/index/id-index.ts';
import {
  addToHash,
  decodeText,
  EMPTY_HASH,
  encodeTexts,
  finishHash,
  type Texts,
} from '../../store/index/texts.ts';
import { type Bytes, sharedBytes, sharedFloats, type Uint32s } from '../../store/memory/shared-arrays.ts';
import type { CollectionImage } from '../../store/organization-image.ts';
import { COMMA, type RecordsImage } from '../../store/records.ts';
import type { CollectionLayout } from '../format/layout.ts';
import { type ManifestOrganization, rowCount, type RunEntry } from '../format/manifest.ts';
import { RefusedSnapshot } from '../format/refused-snapshot.ts';
import { RECORDS_COLUMN } from '../format/schema.ts';
import { CollectionIndexes } from './collection-indexes.ts';
import { checkRunDigest, columnOf, duplicateId, lengthsOf, type Run } from './run-reader.ts';

/** Fills the image of one collection of an organization from its runs. */
export class CollectionLoader {
  readonly count: number;
  readonly #layout: CollectionLayout;
  readonly #organizationId: string;
  readonly #records: RecordsLoader;
  readonly #ids: IdIndexBuilder;
  readonly #indexes: CollectionIndexes;

  /** @param columns the columns to be indexed */
  constructor(
    layout: CollectionLayout,
    { organizationId, runs }: ManifestOrganization,
    columns = layout.columns,
  ) {
    this.count = rowCount(runs[layout.name]);
    this.#layout = layout;
    this.#organizationId = organizationId;
    this.#records = new RecordsLoader(layout, runs[layout.name]);
    this.#ids = new IdIndexBuilder(this.count, layout.resource.id);
    this.#indexes = new CollectionIndexes(layout, columns, this.count);
  }

  /**
   * Takes the next run: copies its records, checks the digest over the copy, which is what is served, and indexes it.
   * @throws RefusedSnapshot
   */
  take(entry: RunEntry, run: Run): void {
    const { firstRow, recordBytes } = entry;
    const records = columnOf(run, RECORDS_COLUMN);
    if (records.length !== recordBytes) {
      checkRunDigest(this.#layout, this.#organizationId, entry, run);
      throw this.#refused(`have ${records.length} bytes at row ${firstRow}, "runs" has ${recordBytes}`);
    }
    const copy = this.#records.copy(records);
    checkRunDigest(this.#layout, this.#organizationId, entry, new Map(run).set(RECORDS_COLUMN, copy));
    if (!isUtf8(copy)) throw this.#refused(`at row ${firstRow} are not UTF-8`);
    const ids = this.#records.divide(copy, lengthsOf(this.#layout, entry, run));
    const twice = this.#ids.addEach(this.#records.image, firstRow, ids);
    if (twice !== undefined) throw duplicateId(this.#layout, decodeText(ids, twice));
    this.#indexes.take(entry, run);
  }

  #refused(problem: string): RefusedSnapshot {
    return new RefusedSnapshot('inconsistent', `the records of ${this.#layout.table} ${problem}`);
  }

  /**
   * Finishes the image, once all runs were taken.
   * @throws RefusedSnapshot
   */
  finish(): CollectionImage {
    return {
      count: this.count,
      records: this.#records.image,
      ids: this.#ids.finish(),
      ...this.#indexes.finish(),
    };
  }
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const BRACE = 0x7d;
const FIRST_VISIBLE = 0x20;

/** Places the records of a collection in the memory that they are served from, a run at a time. */
export class RecordsLoader {
  readonly image: RecordsImage;
  readonly #table: string;
  readonly #prefix: Bytes;
  /** Rows that are placed. */
  #count = 0;

  /** @param runs all runs of the collection, in list order */
  constructor({ table, resource }: CollectionLayout, runs: readonly RunEntry[]) {
    // The comma behind each run has no byte in the run.
    const bytes = runs.reduce((sum, { recordBytes }) => sum + recordBytes + 1, 0);
    this.image = { bytes: sharedBytes(bytes), offsets: sharedFloats(rowCount(runs) + 1) };
    this.#table = table;
    this.#prefix = Buffer.from(`${recordPrefix(resource.id)}"`);
  }

  /**
   * Copies the records of the next run, which has the length that was declared.
   * @returns the copy
   */
  copy(records: Buffer): Buffer {
    const { bytes, offsets } = this.image;
    const copy = Buffer.from(bytes.buffer, offsets[this.#count], records.length + 1);
    records.copy(copy);
    copy[records.length] = COMMA;
    return copy.subarray(0, records.length);
  }

  /**
   * Divides the run that was copied last into records.
   * @param lengths of the records, in bytes
   * @returns the ids of the records
   * @throws RefusedSnapshot when these are no records, or do not begin with their ids
   */
  divide(records: Buffer, lengths: Uint32s): Texts {
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
        throw this.#refused(row, 'has another length');
      if (records[end - 1] !== BRACE) throw this.#refused(row, 'does not end with }');
      if (!this.#hasPrefix(records, start)) throw this.#refused(row, 'does not begin with its id');
      let at = start + this.#prefix.length;
      starts[i] = at;
      let hash = EMPTY_HASH;
      for (; at < end && records[at] !== QUOTE; at++) {
        if (records[at] === BACKSLASH || records[at] < FIRST_VISIBLE) isPlain = false;
        hash = addToHash(hash, records[at]);
      }
      hashes[i] = finishHash(hash);
      ends[i] = at;
      if (at === end || at === starts[i]) throw this.#refused(row, 'does not begin with its id');
      offsets[row + 1] = offsets[row] + lengths[i] + 1;
      start = end + 1;
    }
    const ids = isPlain ? { bytes: records, starts, ends, hashes } : this.#decodedIds(records, starts);
    this.#count += lengths.length;
    return ids;
  }

  #hasPrefix(records: Bytes, start: number): boolean {
    const prefix = this.#prefix;
    for (let i = 0; i < prefix.length; i++) if (records[start + i] !== prefix[i]) return false;
    return true;
  }

  /** Decodes ids of which some have escapes. Each must be written as JSON.stringify does: so it is looked up. */
  #decodedIds(bytes: Buffer, starts: Uint32s): Texts {
    const decoded = Array.from(starts, (start, i) => {
      let end = start;
      while (end < bytes.length && bytes[end] !== QUOTE) end += bytes[end] === BACKSLASH ? 2 : 1;
      const text = bytes.toString('utf8', start - 1, end + 1);
      const id = decode(text);
      if (id?.isWellFormed() !== true || JSON.stringify(id) !== text)
        throw this.#refused(this.#count + i, 'does not begin with its id');
      return id;
    });
    return encodeTexts(decoded);
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
