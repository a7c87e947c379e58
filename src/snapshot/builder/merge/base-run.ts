import { endOfText, recordPrefix } from '../../../store/index/id-index.ts';
import { addToHash, decodeText, EMPTY_HASH, finishHash } from '../../../store/index/texts.ts';
import type { Uint32s } from '../../../store/memory/shared-arrays.ts';
import { type Instant, parseTimestamp } from '../../../contract/timestamp.ts';
import { parseObject, textIn } from '../../format/json-values.ts';
import type { CollectionLayout, ColumnLayout } from '../../format/layout.ts';
import { RefusedSnapshot } from '../../format/refused-snapshot.ts';
import { beginsRun, MAX_RUN_BYTES, MAX_RUN_RECORDS } from '../../format/schema.ts';
import type { Run } from '../../load/run-reader.ts';
import type { ChangedIds } from '../staging/changed-ids.ts';
import type { StagedRecord } from './snapshot-writer.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const FIRST_BEYOND_ASCII = 0x80;

/** The place of a record in the list order of its collection. */
export interface OrderKey {
  readonly instant: Instant;
  readonly id: string;
}

/** Returns the place of a record in stored form. */
export function orderKey({ resource, orderedBy }: CollectionLayout, json: string): OrderKey {
  const record = parseObject(json);
  return {
    instant: parseTimestamp(textIn(record?.[orderedBy.field])) ?? 0n,
    id: textIn(record?.[resource.id]),
  };
}

/** Returns whether a place comes before another one. */
export function isBefore({ orderedBy }: CollectionLayout, a: OrderKey, b: OrderKey): boolean {
  if (a.instant === b.instant) return a.id < b.id;
  return orderedBy.descending ? a.instant > b.instant : a.instant < b.instant;
}

/** A run of a base snapshot. Its records are decoded only where the changes concern them. */
export class BaseRun {
  readonly run: Run;
  readonly count: number;
  /** Position of the organization in the order of the ids. */
  readonly organization: number;
  readonly #layout: CollectionLayout;
  /** Offset of each record, and of the end, as if a comma followed the last record. */
  readonly #offsets: Uint32s;
  /** Number of bytes before the id of each record, `{"ticketId":"`. */
  readonly #prefixLength: number;
  #firstKey: OrderKey | undefined;
  #elements: readonly (readonly string[])[] | undefined;

  /** @throws RefusedSnapshot when the records differ from their declared lengths */
  constructor(layout: CollectionLayout, organization: number, run: Run) {
    const lengths = run.lengths();
    const offsets = new Uint32Array(lengths.length + 1);
    for (const [i, length] of lengths.entries()) offsets[i + 1] = offsets[i] + length + 1;
    if (offsets[lengths.length] !== run.records.length + 1) {
      throw new RefusedSnapshot(
        'inconsistent',
        `the records of ${layout.table} differ from their declared lengths at row ${run.entry.firstRow}`,
      );
    }
    this.run = run;
    this.count = lengths.length;
    this.organization = organization;
    this.#layout = layout;
    this.#prefixLength = recordPrefix(layout.resource.id).length + 1;
    this.#offsets = offsets;
  }

  get firstKey(): OrderKey {
    return (this.#firstKey ??= this.#keyAt(0));
  }

  /** Whether the run would begin at its first record whichever records precede it. */
  get beginsByHash(): boolean {
    return beginsRun(this.firstKey.id);
  }

  /**
   * Whether the builder would end the run where it ends, if it began it where it begins.
   * Runs of other writers may end anywhere. A run that is full by a column counts as one of these.
   * @param next the next run of the organization
   */
  endsAsBuilt(next: BaseRun | undefined): boolean {
    if (next === undefined) return !this.#holdsBeginning();
    // Records that begin runs are rare: another writer ends a run before one only by chance.
    if (next.beginsByHash) return true;
    // Offsets include a comma after each record.
    const bytes = this.#offsets[this.count] + next.#offsets[1] - 1;
    return (this.count === MAX_RUN_RECORDS || bytes > MAX_RUN_BYTES) && !this.#holdsBeginning();
  }

  /** Returns whether a record after the first one begins a run. */
  #holdsBeginning(): boolean {
    for (let row = 1; row < this.count; row++) if (beginsRun(this.#idAt(row))) return true;
    return false;
  }

  /** Returns the rows of the run whose records are replaced or deleted. */
  changedRows(changed: ChangedIds): ReadonlySet<number> {
    const rows = new Set<number>();
    const { records } = this.run;
    for (let row = 0; row < this.count; row++) {
      const end = this.#offsets[row + 1];
      let hash = EMPTY_HASH;
      let isPlain = true;
      for (let at = this.#startOfId(row); at < end && records[at] !== QUOTE; at++) {
        if (records[at] === BACKSLASH || records[at] >= FIRST_BEYOND_ASCII) isPlain = false;
        hash = addToHash(hash, records[at]);
      }
      if (isPlain && !changed.mayHave(finishHash(hash))) continue;
      if (changed.find(this.#layout, this.organization, this.#idAt(row)) !== undefined) rows.add(row);
    }
    return rows;
  }

  /** Returns the first row whose record does not come before a place; `count` when there is none. */
  rowOf(key: OrderKey): number {
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (isBefore(this.#layout, this.#keyAt(middle), key)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /**
   * Returns a record as the snapshot writer receives it.
   * @param isForeign whether records after the first one may begin a run
   */
  record(row: number, isForeign: boolean): StagedRecord {
    this.#elements ??= this.#layout.columns.map((column) => elementsOf(this.run, column));
    return {
      organization: this.organization,
      beginsRun: row === 0 ? this.beginsByHash : isForeign && beginsRun(this.#idAt(row)),
      json: this.run.records.subarray(this.#offsets[row], this.#offsets[row + 1] - 1),
      values: this.#elements.map((elements) => elements[row]),
    };
  }

  /** Returns the id of a record, which is at its start, without parsing the rest. */
  #idAt(row: number): string {
    const { id } = this.#layout.resource;
    const end = endOfText(this.run.records, this.#startOfId(row), this.#offsets[row + 1]);
    return textIn(parseObject(`${this.run.records.toString('utf8', this.#offsets[row], end + 1)}}`)?.[id]);
  }

  /** Returns the position after the quote that begins the id. */
  #startOfId(row: number): number {
    return this.#offsets[row] + this.#prefixLength;
  }

  #keyAt(row: number): OrderKey {
    const json = this.run.records.toString('utf8', this.#offsets[row], this.#offsets[row + 1] - 1);
    return orderKey(this.#layout, json);
  }
}

/** Returns the JSON text of each record's value in an index column. */
function elementsOf(run: Run, { column, holds }: ColumnLayout): readonly string[] {
  switch (holds) {
    case 'text': {
      const { texts, textOf } = run.texts(column);
      const distinct = Array.from(texts.starts, (_, i) => JSON.stringify(decodeText(texts, i)));
      return Array.from(textOf, (text) => distinct[text]);
    }
    case 'instant': {
      const instants = new BigInt64Array(run.entry.recordCount);
      run.readInstants(column, instants, 0);
      return Array.from(instants, String);
    }
    case 'list': {
      const { texts, counts } = run.lists(column);
      let next = 0;
      return Array.from(counts, (length) =>
        JSON.stringify(Array.from({ length }, () => decodeText(texts, next++))),
      );
    }
  }
}
