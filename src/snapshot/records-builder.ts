import { recordPrefix } from '../store/id-index.ts';
import { COMMA } from '../store/records.ts';
import type { RecordsImage } from '../store/records.ts';
import { sharedBytes, sharedFloats } from '../store/shared.ts';
import type { Bytes } from '../store/shared.ts';
import { tellFilled } from './growing-records.ts';
import type { GrowingRecords } from './growing-records.ts';
import type { CollectionLayout } from './layout.ts';
import type { Segment } from './manifest.ts';
import { RefusedSnapshot } from './refused-snapshot.ts';
import type { TextTaker } from './stored-values.ts';

/** What is looked at of the memory at a time: not all versions of Node copy to places beyond 32 bits. */
const WINDOW_BYTES = 2 ** 30;

/** Lays the records of a collection, as they are read, where they will be served from: each once, a comma after it. */
export class RecordsBuilder implements TextTaker {
  readonly image: RecordsImage;
  readonly #table: string;
  readonly #prefix: Bytes;
  #count = 0;
  #window: Buffer;
  #windowStart = 0;
  #followed: GrowingRecords | undefined;

  constructor({ table, resource }: CollectionLayout, { rowCount, recordBytes }: Segment) {
    this.image = { bytes: sharedBytes(recordBytes + rowCount), offsets: sharedFloats(rowCount + 1) };
    this.#table = table;
    this.#prefix = Buffer.from(recordPrefix(resource.id) + '"');
    this.#window = this.#windowFrom(0);
  }

  /**
   * Takes the next record.
   * @throws RefusedSnapshot
   */
  addText(source: Buffer, start: number, end: number): void {
    const { bytes, offsets } = this.image;
    const at = offsets[this.#count];
    const next = at + end - start + 1;
    if (next > bytes.length) {
      throw new RefusedSnapshot(
        'inconsistent',
        `the records of ${this.#table} are longer than its segment says`,
      );
    }
    this.#checkShape(source, start, end);
    if (next - this.#windowStart > this.#window.length) this.#window = this.#windowFrom(at);
    source.copy(this.#window, at - this.#windowStart, start, end);
    bytes[next - 1] = COMMA;
    offsets[++this.#count] = next;
  }

  /** For another thread, which is to digest them as they come. */
  growing(): GrowingRecords {
    const filled = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
    const rowCount = this.image.offsets.length - 1;
    return (this.#followed = { table: this.#table, records: this.image, rowCount, filled });
  }

  /** Tells the thread that digests them how many there are. False when there is none: then they are digested by this one. */
  tellCount(): boolean {
    if (this.#followed === undefined) return false;
    tellFilled(this.#followed, this.#count);
    return true;
  }

  /** @throws RefusedSnapshot */
  finish(): RecordsImage {
    const { bytes, offsets } = this.image;
    if (offsets[this.#count] === bytes.length) return this.image;
    throw new RefusedSnapshot(
      'inconsistent',
      `the records of ${this.#table} are not as long as its segment says`,
    );
  }

  #checkShape(source: Buffer, start: number, end: number): void {
    const prefix = this.#prefix;
    let matching = 0;
    while (matching < prefix.length && source[start + matching] === prefix[matching]) matching++;
    if (matching < prefix.length || end - start <= prefix.length) throw this.#misshapen('begin with its id');
    if (source[end - 1] !== BRACE) throw this.#misshapen('end with }');
  }

  #misshapen(rule: string): RefusedSnapshot {
    return new RefusedSnapshot('inconsistent', `record ${this.#count} of ${this.#table} does not ${rule}`);
  }

  #windowFrom(start: number): Buffer {
    const { buffer, length } = this.image.bytes;
    this.#windowStart = start;
    return Buffer.from(buffer, start, Math.min(length - start, WINDOW_BYTES));
  }
}

const BRACE = 0x7d;
