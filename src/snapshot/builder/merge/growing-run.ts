import type { CollectionName } from '../../../contract/operations.ts';
import type { CollectionLayout } from '../../format/layout.ts';
import {
  changesDigest,
  MAX_RUN_BYTES,
  MAX_RUN_RECORDS,
  recordDigest,
  runDigest,
  sumText,
} from '../../format/schema.ts';
import { EarlierRun, type MergedRecord } from '../staging/earlier-run.ts';

const COMMA = Buffer.from(',');
const CHANGES = { holds: 'text' } as const;

interface GrowingColumn {
  readonly elements: (string | number)[];
  /** The position of the first occurrence of each text; undefined unless the column holds texts. */
  readonly positions: Map<string, number> | undefined;
  /** Size without the closing bracket. Repeated texts count in full. */
  bytes: number;
}

/** Collects consecutive records of one organization for a run. */
export class GrowingRun {
  readonly organization: number;
  /** The run of an earlier snapshot that has exactly the records so far. */
  copied: EarlierRun | undefined;
  readonly #list: CollectionName;
  readonly #records: Buffer[] = [];
  /** Size of the records, a comma after each included. */
  #recordBytes = 0;
  #recordsSum = 0n;
  /** Those of `changed_at`, and of the layout. */
  readonly #columns: readonly GrowingColumn[];
  readonly #producedAt: string;

  /**
   * @param first the first record, or a run with it
   * @param producedAt time of the records that changed
   */
  constructor(layout: CollectionLayout, first: MergedRecord | EarlierRun, producedAt: string) {
    this.#list = layout.name;
    this.#producedAt = producedAt;
    this.organization = first.organization;
    this.#columns = [CHANGES, ...layout.columns].map(({ holds }) => {
      return { elements: [], positions: holds === 'text' ? new Map<string, number>() : undefined, bytes: 1 };
    });
    if (first instanceof EarlierRun) this.copied = first;
    else this.#append(first);
  }

  get count(): number {
    return this.copied?.count ?? this.#records.length;
  }

  /** Returns whether a record, or the first one of a run, belongs to this run, unless its columns are too large. */
  precedes(next: MergedRecord | EarlierRun): boolean {
    const isRun = next instanceof EarlierRun;
    const beginsRun = isRun ? next.beginsRun(0) : next.beginsRun;
    if (beginsRun || next.organization !== this.organization || this.count === MAX_RUN_RECORDS) return false;
    const bytes = this.copied === undefined ? this.#recordBytes : this.copied.run.entry.recordBytes + 1;
    return bytes + Buffer.byteLength(isRun ? next.bytesAt(0) : next.json) <= MAX_RUN_BYTES;
  }

  /** Adds a record. Returns false when it belongs to the next run, as each whole run does. */
  add(next: MergedRecord | EarlierRun): boolean {
    if (next instanceof EarlierRun || !this.precedes(next)) return false;
    const { copied } = this;
    this.copied = undefined;
    for (const one of copied?.records() ?? []) this.#append(one);
    return this.#append(next);
  }

  /** Returns false when the columns of the record do not fit. */
  #append({ json, values, changedAt = this.#producedAt }: MergedRecord): boolean {
    const { count } = this;
    const elements = [JSON.stringify(changedAt), ...values];
    const columnBytes = elements.map((element, i) => this.#columns[i].bytes + 1 + Buffer.byteLength(element));
    if (count > 0 && columnBytes.some((bytes) => bytes > MAX_RUN_BYTES)) return false;
    for (let i = 0; i < elements.length; i++) {
      const [column, element] = [this.#columns[i], elements[i]];
      // The element of a repeated text is the position of its first occurrence.
      const position = column.positions?.get(element);
      if (position === undefined) column.positions?.set(element, count);
      column.elements.push(position ?? element);
      column.bytes = columnBytes[i];
    }
    const record = typeof json === 'string' ? Buffer.from(json) : json;
    this.#records.push(record);
    this.#recordBytes += record.length + 1;
    this.#recordsSum += recordDigest(this.#list, values, String(json));
    return true;
  }

  /**
   * Returns the run as it is stored: its entry in the manifest, and its columns in schema order.
   * The digest covers the bytes in memory, so that verification detects a failed write.
   */
  stored() {
    if (this.copied !== undefined) return this.copied.run;
    const lists = [
      this.#records.map(({ length }) => length),
      ...this.#columns.map(({ elements }) => elements),
    ];
    const [lengths, changedAt, ...columns] = lists.map((elements) => Buffer.from(`[${elements.join(',')}]`));
    const records = Buffer.concat(this.#records.flatMap((record) => [record, COMMA])).subarray(0, -1);
    const content = [lengths, ...columns, records];
    const entry = {
      recordCount: this.count,
      recordBytes: records.length,
      digest: runDigest(this.#list, this.count, content),
      recordsSum: sumText(this.#recordsSum),
      changesDigest: changesDigest(changedAt),
    };
    return { entry, changedAt, content };
  }
}
