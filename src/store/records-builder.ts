import { type Bytes, type Row, sharedUint32s, type Uint32s } from './memory/shared-arrays.ts';
import { PLACE, type RecordsImage, type RecordTable, type Slab } from './records.ts';
import { type SlabOptions, SlabWriter } from './slab-writer.ts';

/**
 * A table refers to an earlier slab only if its records fill this share of it at least: so the slabs of a list have at
 * most 1.25 times the bytes of the records in memory. The shares go up to a maximum, since changes at random would
 * otherwise empty all slabs at the same moment.
 */
const MIN_SHARE = 0.8;
const MAX_SHARE = 0.95;
const GOLDEN_RATIO = 0.618_033_988_749_895;

/** Number of slabs of less than half the size that a table has at most. */
const MAX_SMALL = 64;

/** Rows between two of an abandoned slab that move with them, so that the rows of a list become adjacent again. */
const MAX_GAP = 4;

interface RecordsOptions extends SlabOptions {
  readonly count: number;
  /** The image to whose table the records are added. */
  readonly base?: RecordsImage | undefined;
  /** Other images that share this table and the new one. */
  readonly staying?: readonly RecordsImage[];
}

/**
 * Makes the records of a list, row by row: copies records into new slabs, or refers to those that are in memory. The new
 * table has the records of the new image, and those of images that stay, under their numbers in the table of the base:
 *
 *     image of snapshot 1 ─▶ table ◀─ image of snapshot 2
 *                             │ │ └▶ slab a b c …
 *                             │ └▶   slab x y z …
 *
 * Finally, records are moved out of the slabs that are hardly used any longer, by ranges in list order.
 */
export class RecordsBuilder implements RecordsImage {
  readonly numbers: Uint32s;
  readonly table: { readonly number: number; readonly slabs: Slab[]; places: Uint32s };
  readonly #writer: SlabWriter;
  /** Number of the table of the base; 0 without a base. */
  readonly #baseTable: number;
  readonly #staying: readonly RecordsImage[];
  /** Records of the base's table that no image has. New ones take their numbers. */
  readonly #free: number[] = [];
  /** Number of records, with the free ones. */
  #count: number;
  /** The slabs of earlier tables, by their numbers. */
  readonly #earlier = new Map<number, number>();

  constructor(options: RecordsOptions) {
    const { count, base, staying = [] } = options;
    this.numbers = sharedUint32s(count);
    const sharing =
      base === undefined ? [] : [base, ...staying.filter(({ table }) => isSame(table, base.table))];
    const needed = sharing.slice(1).reduce((sum, { numbers }) => sum + numbers.length, count);
    // A table that is nearly empty is not continued.
    const continued =
      base !== undefined && base.table.places.length / PLACE <= 2 * needed ? base.table : undefined;
    this.#baseTable = continued?.number ?? 0;
    this.#staying = continued === undefined ? [] : sharing.slice(1);
    this.#count = (continued?.places.length ?? 0) / PLACE;
    this.table = { number: 0, slabs: [], places: sharedUint32s(Math.max(count, this.#count) * PLACE) };
    this.#writer = new SlabWriter(this.table.slabs, options);
    if (continued === undefined) return;
    this.table.places.set(continued.places);
    for (const slab of continued.slabs) this.#addEarlier(slab);
    const isUsed = recordsOf(sharing, this.#count);
    for (let number = this.#count - 1; number >= 0; number--)
      if (isUsed[number] === 0) this.#free.push(number);
  }

  /** Bytes that were copied, also of records that are in memory. */
  get copiedBytes(): number {
    return this.#writer.copiedBytes;
  }

  /**
   * Copies consecutive records, from the row `first` on.
   * @param offsets record i is `source[offsets[i] … offsets[i + 1]]` with the comma after it, which the last one may lack
   */
  copy(first: Row, source: Bytes, offsets: Uint32s, from = 0, to = offsets.length - 1): void {
    for (let i = from; i < to;) {
      const start = offsets[i];
      const at = this.#writer.position(offsets[i + 1] - start);
      let end = i + 1;
      while (end < to && at + offsets[end + 1] - start <= this.#writer.slabBytes) end++;
      const slab = this.#writer.append(source, start, offsets[end]);
      for (; i < end; i++) {
        const number = this.#newRecord();
        this.numbers[first + i - from] = number;
        this.#place(number, slab, at + offsets[i] - start, at + offsets[i + 1] - start);
      }
    }
  }

  /** Refers to the record of a row of another image. */
  refer(row: Row, { table: { number, slabs, places }, numbers }: RecordsImage, other: Row): void {
    const record = numbers[other];
    if (number === this.#baseTable) {
      this.numbers[row] = record;
      return;
    }
    const at = record * PLACE;
    const known = slabs[places[at]];
    const slab = this.#earlier.get(known.number) ?? this.#addEarlier(known);
    const added = this.#newRecord();
    this.numbers[row] = added;
    this.#place(added, slab, places[at + 1], places[at + 2]);
  }

  /** Returns an image that stays, with the new table if it shares that. */
  continued(image: RecordsImage, table: RecordTable): RecordsImage {
    return this.#staying.includes(image) ? { ...image, table } : image;
  }

  finish(): RecordsImage {
    const isUsed = recordsOf([this, ...this.#staying], this.#count);
    this.#leaveSlabs(isUsed);
    this.#writer.finishSlab();
    return { table: { number: this.#writer.newNumber(), ...this.#compacted(isUsed) }, numbers: this.numbers };
  }

  /** Moves records out of slabs that are hardly used, and those in short gaps between them in list order. */
  #leaveSlabs(isUsed: Bytes): void {
    const { slabs, places } = this.table;
    const used = slabs.map(() => 0);
    for (let number = 0, at = 0; number < isUsed.length; number++, at += PLACE)
      if (isUsed[number] === 1) used[places[at]] += places[at + 2] - places[at + 1];
    const abandoned = this.#abandoned(used);
    if (abandoned.size === 0) return;
    const isEarlier = new Set(this.#earlier.values());
    for (let row = 0, last = 0, lastSlab = -1; row < this.numbers.length; row++) {
      const slab = places[this.numbers[row] * PLACE];
      if (!abandoned.has(slab)) continue;
      for (let next = slab === lastSlab && row - last <= MAX_GAP ? last + 1 : row; next < row; next++) {
        const at = this.numbers[next] * PLACE;
        const rest = used[places[at]] - (places[at + 2] - places[at + 1]);
        if (!isEarlier.has(places[at]) || rest < MIN_SHARE * slabs[places[at]].bytes.length) continue;
        used[places[at]] = rest;
        this.#move(this.numbers[next]);
      }
      this.#move(this.numbers[row]);
      [last, lastSlab] = [row, slab];
    }
    // Those that only other images have.
    for (let number = 0; number < isUsed.length; number++)
      if (isUsed[number] === 1 && abandoned.has(places[number * PLACE])) this.#move(number);
  }

  /** @param used by slab: bytes of its records */
  #abandoned(used: readonly number[]): Set<number> {
    const { slabs } = this.table;
    const earlier = [...this.#earlier.values()].filter((slab) => used[slab] > 0);
    const small = earlier.filter((slab) => slabs[slab].bytes.length < this.#writer.slabBytes / 2);
    const isHardlyUsed = (slab: number) => {
      const { number, bytes } = slabs[slab];
      // Multiples of the golden ratio are distributed evenly.
      const share = MIN_SHARE + (MAX_SHARE - MIN_SHARE) * ((number * GOLDEN_RATIO) % 1);
      return used[slab] < share * bytes.length;
    };
    return new Set([...earlier.filter(isHardlyUsed), ...(small.length > MAX_SMALL ? small : [])]);
  }

  #move(number: number): void {
    const { slabs, places } = this.table;
    const [slab, start, end] = places.subarray(number * PLACE);
    const at = this.#writer.position(end - start);
    this.#place(number, this.#writer.append(slabs[slab].bytes, start, end), at, at + end - start);
  }

  /** Returns the table without slabs that have no record, in memory of its size. */
  #compacted(isUsed: Bytes): Pick<RecordTable, 'slabs' | 'places'> {
    const { slabs, places } = this.table;
    const isKept = new Uint8Array(slabs.length);
    for (let number = 0; number < isUsed.length; number++)
      if (isUsed[number] === 1) isKept[places[number * PLACE]] = 1;
    let count = 0;
    const slabOf = Array.from(isKept, (kept) => (kept === 1 ? count++ : 0));
    if (count < slabs.length)
      for (let at = 0; at < places.length; at += PLACE) places[at] = slabOf[places[at]];
    const length = this.#count * PLACE;
    const exact = length === places.length ? places : sharedUint32s(length);
    if (exact !== places) exact.set(places.subarray(0, length));
    return { slabs: slabs.filter((_, slab) => isKept[slab] === 1), places: exact };
  }

  #newRecord(): number {
    const number = this.#free.pop() ?? this.#count++;
    const { places } = this.table;
    if (number * PLACE < places.length) return number;
    this.table.places = sharedUint32s((number + (number >> 1) + 1) * PLACE);
    this.table.places.set(places);
    return number;
  }

  #place(number: number, slab: number, start: number, end: number): void {
    const { places } = this.table;
    places[number * PLACE] = slab;
    places[number * PLACE + 1] = start;
    places[number * PLACE + 2] = end;
  }

  #addEarlier(slab: Slab): number {
    const index = this.table.slabs.push(slab) - 1;
    this.#earlier.set(slab.number, index);
    return index;
  }
}

function isSame(a: RecordTable, b: RecordTable): boolean {
  return a.number === b.number;
}

/** Returns for each record of a table 1 if one of the images has it. */
function recordsOf(images: readonly RecordsImage[], count: number): Bytes {
  const isUsed = new Uint8Array(count);
  for (const { numbers } of images) for (const number of numbers) isUsed[number] = 1;
  return isUsed;
}

/** Returns the records of texts, as an image of its own. */
export function recordsImage(texts: readonly string[], slabBytes?: number): RecordsImage {
  const records = texts.map((text) => Buffer.from(`${text},`));
  const bytes = records.reduce((sum, { length }) => sum + length, 0);
  const builder = new RecordsBuilder({ count: records.length, bytes, slabBytes, isShared: false });
  for (const [row, record] of records.entries()) builder.copy(row, record, Uint32Array.of(0, record.length));
  return builder.finish();
}
