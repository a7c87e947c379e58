import { isUtf8 } from 'node:buffer';
import type { Instant } from '../../contract/timestamp.ts';
import { sameBytes } from '../../store/index/key-table.ts';
import { decodeText, type Texts } from '../../store/index/texts.ts';
import type { Int64s, Uint32s } from '../../store/memory/shared-arrays.ts';
import { COMMA, recordPrefix } from '../../store/records.ts';
import type { CollectionLayout } from '../format/layout.ts';
import { inconsistent, RefusedSnapshot } from '../format/refused-snapshot.ts';
import { MAX_RECORD_BYTES, recordDigest } from '../format/schema.ts';
import type { StoredBlock } from './block-reader.ts';
import { type BlockColumn, decodeBlock } from './block-values.ts';
import type { RecordForm } from './record-form.ts';

const BRACE = 0x7d;
/** Follows the last value of a record. */
const ARRAY_END = '],';

/** The value of a record in an index column. */
export type RecordValue = Instant | readonly string[];

/** Some records of a list, with their values. */
export class Block {
  readonly layout: CollectionLayout;
  readonly count: number;
  /** Their rows in the list, from 0, ascending. */
  readonly rows: Uint32s;
  /** The records, each with a comma after it: record i is `records[offsets[i] … offsets[i + 1] - 1]`. */
  readonly records: Buffer;
  readonly offsets: Uint32s;
  readonly changedAt: Int64s;
  readonly ids: Texts;
  /** The index columns, in schema order. */
  readonly columns: readonly BlockColumn[];
  readonly #stored: StoredBlock;
  readonly #decoded: NonNullable<ReturnType<typeof decodeBlock>>;

  /** @throws RefusedSnapshot when a value or a record is malformed, or a record does not begin with its id */
  constructor(layout: CollectionLayout, stored: StoredBlock) {
    this.layout = layout;
    this.#stored = stored;
    this.count = stored.count;
    this.rows = stored.rows;
    this.records = stored.records;
    const kinds = layout.columns.map(({ holds }) => holds);
    const decoded = decodeBlock(stored.values, this.count, kinds);
    if (decoded === undefined)
      throw inconsistent(
        `a row of ${layout.name} from record ${this.rows[0]} on has a value of another type`,
      );
    this.changedAt = decoded.changedAt;
    this.ids = decoded.ids;
    this.columns = decoded.columns;
    this.#decoded = decoded;
    this.offsets = this.#divide();
  }

  /** Returns the offset of each record, and of the end. Checks the bounds of the records, and their ids. */
  #divide(): Uint32s {
    const { records, ids, count } = this;
    const { lengths, starts, idEnds } = this.#decoded;
    const prefix = Buffer.from(recordPrefix(this.layout.resource.id));
    const offsets = new Uint32Array(count + 1);
    for (let i = 0; i < count; i++) {
      const start = offsets[i];
      const end = start + lengths[i];
      offsets[i + 1] = end + 1;
      if (end - start > MAX_RECORD_BYTES) throw this.refused(i, `exceeds ${MAX_RECORD_BYTES} bytes`);
      if (records[end - 1] !== BRACE || records[end] !== COMMA) throw this.refused(i, 'does not end with }');
      const id = this.#stored.values.subarray(starts[i], idEnds[i]);
      const at = start + prefix.length;
      const isFirst =
        sameBytes(records, start, at, prefix, 0, prefix.length) &&
        sameBytes(records, at, at + id.length, id, 0, id.length);
      if (!isFirst || ids.ends[i] === ids.starts[i])
        throw this.refused(i, `does not begin with its ${this.layout.resource.id}`);
    }
    if (offsets[count] === records.length) return offsets;
    throw inconsistent(
      `the records of ${this.layout.name} from record ${this.rows[0]} on have other lengths`,
    );
  }

  idAt(i: number): string {
    return decodeText(this.ids, i);
  }

  /** Returns the values and the records `from … to - 1` as they are stored. */
  slice(from: number, to: number): Pick<StoredBlock, 'values' | 'records'> {
    const valuesAt = (i: number) => (i === 0 ? 0 : this.#decoded.ends[i - 1] + ARRAY_END.length);
    return {
      values: this.#stored.values.subarray(valuesAt(from), valuesAt(to)),
      records: this.#stored.records.subarray(this.offsets[from], this.offsets[to]),
    };
  }

  /** Returns the bytes of a record, without the comma after it. */
  recordAt(i: number): Buffer {
    return this.records.subarray(this.offsets[i], this.offsets[i + 1] - 1);
  }

  /** Returns the texts of an index column, by its position. */
  texts(column: number): Texts {
    const values = this.columns[column];
    if (values.holds === 'text') return values.texts;
    throw new TypeError(`column ${column} of ${this.layout.name} does not hold texts`);
  }

  /** Returns the instants of an index column, by its position. */
  instants(column: number): Int64s {
    const values = this.columns[column];
    if (values.holds === 'instant') return values.instants;
    throw new TypeError(`column ${column} of ${this.layout.name} does not hold instants`);
  }

  /** Returns the values of a record in the index columns: an instant, or the texts. */
  valuesAt(i: number): readonly RecordValue[] {
    return this.columns.map((column) => {
      if (column.holds === 'instant') return column.instants[i];
      const { texts } = column;
      if (column.holds === 'text') return [decodeText(texts, i)];
      const first = i === 0 ? 0 : column.ends[i - 1];
      return Array.from({ length: column.ends[i] - first }, (_, k) => decodeText(texts, first + k));
    });
  }

  /** Returns the values of a record as they are stored: a list is a JSON array. */
  storedValuesAt(i: number): (string | bigint)[] {
    return this.valuesAt(i).map((value, column) => {
      if (typeof value === 'bigint') return value;
      return this.columns[column].holds === 'text' ? value[0] : JSON.stringify(value);
    });
  }

  get recordBytes(): number {
    return this.records.length - this.count;
  }

  /** Bytes of the texts in index columns. */
  get textBytes(): number {
    let bytes = 0;
    for (const column of this.columns) {
      if (column.holds === 'instant') continue;
      const { starts, ends } = column.texts;
      for (let i = 0; i < ends.length; i++) bytes += ends[i] - starts[i];
    }
    return bytes;
  }

  /** Elements of the lists in index columns. */
  get listElements(): number {
    return this.columns.reduce((sum, one) => sum + (one.holds === 'list' ? one.texts.ends.length : 0), 0);
  }

  /**
   * Returns whether a record changed since a history began.
   * @param history its start, and the times of its snapshots
   * @throws RefusedSnapshot when the record changed at another time
   */
  isChange(i: number, { since, times }: { since: Instant; times: ReadonlySet<Instant> }): boolean {
    const time = this.changedAt[i];
    if (time <= since) return false;
    if (times.has(time)) return true;
    throw this.refused(
      i,
      `has changed at ${time}, which is not the time of an earlier snapshot, or of this one`,
    );
  }

  /** Computes the digest of a record, as `recordDigest` does. */
  digestAt(i: number): bigint {
    const { starts, ends } = this.#decoded;
    const values = this.#stored.values.toString('utf8', starts[i], ends[i]);
    return recordDigest(this.layout.name, values, this.recordAt(i).toString());
  }

  /** @throws RefusedSnapshot when the records `from … to` are not UTF-8 */
  checkUtf8(from: number, to: number): void {
    if (isUtf8(this.records.subarray(this.offsets[from], this.offsets[to]))) return;
    throw inconsistent(`the records of ${this.layout.name} from record ${this.rows[from]} on are not UTF-8`);
  }

  /** @throws RefusedSnapshot when a record does not have a form */
  checkForm(form: RecordForm, i: number): void {
    if (form.read(this.recordAt(i).toString('latin1')) === undefined)
      throw this.refused(i, `is not ${form.name}`);
  }

  refused(i: number, problem: string): RefusedSnapshot {
    return inconsistent(`record ${this.rows[i]} of ${this.layout.name} ${problem}`);
  }

  /** Frees the memory at once. Garbage collections would leave many blocks. */
  release(): void {
    for (const { buffer } of [this.#stored.values, this.#stored.records]) buffer.transfer(0);
  }
}

export function duplicateId({ name, resource }: CollectionLayout, id: string): RefusedSnapshot {
  return new RefusedSnapshot('duplicate-id', `${name} holds ${resource.id} "${id}" twice`);
}
