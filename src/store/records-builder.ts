import { type Bytes, type Row, sharedUint32s, type Uint32s } from './memory/shared-arrays.ts';
import { PLACE, type RecordsImage, type RecordTable, type Slab } from './records.ts';
import { bytesBySlab, MIN_SHARE, recordsOf, slabsOf, slabsToLeave } from './slabs-to-leave.ts';
import { type SlabOptions, SlabWriter } from './slab-writer.ts';

/** Rows between two of an abandoned slab that move with them, so that the rows of a list become adjacent again. */
const MAX_GAP = 4;

/** In place of a slab that an image does not use. */
const NO_SLAB: Slab = { number: 0, bytes: new Uint8Array(0) };

interface RecordsOptions extends SlabOptions {
  readonly count: number;
  /** The image to whose table the records are added. */
  readonly base?: RecordsImage | undefined;
  /** Images that stay in memory. */
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
  #finished: RecordTable = { number: 0, slabs: [], places: new Uint32Array(0) };
  readonly #writer: SlabWriter;
  /** Number of the table of the base; 0 without a base. */
  readonly #baseTable: number;
  /** The images that stay, each with the numbers of its records in the new table. */
  #staying: ReadonlyMap<RecordsImage, Uint32s>;
  /** Records of the base's table that no image has. New ones take their numbers. */
  readonly #free: number[] = [];
  /** Number of records, with the free ones. */
  #count: number;
  /** The slabs of earlier tables, by their numbers. */
  readonly #earlier = new Map<number, number>();
  /** The records of other tables than that of the base, by slab and start. */
  readonly #byPlace = new Map<number, number>();

  constructor(options: RecordsOptions) {
    const { count, base, staying = [] } = options;
    this.numbers = sharedUint32s(count);
    const sharing = staying.filter(({ table }) => table.number === base?.table.number);
    this.#baseTable = base?.table.number ?? 0;
    this.#count = (base?.table.places.length ?? 0) / PLACE;
    this.table = { number: 0, slabs: [], places: sharedUint32s(Math.max(count, this.#count) * PLACE) };
    this.#writer = new SlabWriter(this.table.slabs, options);
    if (base !== undefined) {
      this.table.places.set(base.table.places);
      for (const [i, slab] of base.table.slabs.entries())
        this.#addEarlier(sharing.map(({ table }) => table.slabs[i]).find(({ number }) => number > 0) ?? slab);
      const isUsed = recordsOf(
        [base, ...sharing].map(({ numbers }) => numbers),
        this.#count,
      );
      for (let number = this.#count - 1; number >= 0; number--)
        if (isUsed[number] === 0) this.#free.push(number);
    }
    this.#staying = new Map(staying.map((image) => [image, this.#numbersOf(image)]));
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
      while (end < to && at + offsets[end + 1] - start <= this.#writer.capacity) end++;
      const slab = this.#writer.append(source, start, offsets[end]);
      for (; i < end; i++) {
        const number = this.#newRecord();
        this.numbers[first + i - from] = number;
        this.#place(number, slab, at + offsets[i] - start, at + offsets[i + 1] - start);
      }
    }
  }

  /** Refers to the record of a row of another image. */
  refer(row: Row, { table, numbers }: RecordsImage, other: Row): void {
    this.numbers[row] = this.#numberOf(table, numbers[other]);
  }

  /** Returns the numbers of the records of an image in the new table. */
  #numbersOf({ table, numbers }: RecordsImage): Uint32s {
    if (table.number === this.#baseTable) return numbers;
    const own = sharedUint32s(numbers.length);
    for (let row = 0; row < own.length; row++) own[row] = this.#numberOf(table, numbers[row]);
    return own;
  }

  /** Returns the number of a record of a table in the new one, to which it is added if need be. */
  #numberOf({ number, slabs, places }: RecordTable, record: number): number {
    if (number === this.#baseTable) return record;
    const at = record * PLACE;
    const known = slabs[places[at]];
    const slab = this.#earlier.get(known.number) ?? this.#addEarlier(known);
    const key = slab * 2 ** 32 + places[at + 1];
    const found = this.#byPlace.get(key) ?? this.#newRecord();
    this.#byPlace.set(key, found);
    this.#place(found, slab, places[at + 1], places[at + 2]);
    return found;
  }

  /** Finishes the table, and returns the new image. */
  finish(): RecordsImage {
    const isUsed = recordsOf([this.numbers, ...this.#staying.values()], this.#count);
    this.#leaveSlabs(isUsed);
    this.#writer.finishSlab();
    this.#leaveNumbers(isUsed);
    this.#finished = { number: this.#writer.newNumber(), ...this.#compacted() };
    return this.#imageOf(this.numbers);
  }

  /** Returns an image that stays, with the finished table in place of its own. */
  continued(image: RecordsImage): RecordsImage {
    const numbers = this.#staying.get(image);
    return numbers === undefined ? image : this.#imageOf(numbers);
  }

  /** Returns an image that holds, of all slabs, those of its records. */
  #imageOf(numbers: Uint32s): RecordsImage {
    const { number, slabs, places } = this.#finished;
    const isUsed = slabsOf(this.#finished, [numbers]);
    return {
      table: { number, slabs: slabs.map((slab, i) => (isUsed[i] === 1 ? slab : NO_SLAB)), places },
      numbers,
    };
  }

  /** Moves records out of slabs that are hardly used, and those in short gaps between them in list order. */
  #leaveSlabs(isUsed: Bytes): void {
    const { slabs, places } = this.table;
    const used = bytesBySlab(this.table, isUsed);
    const abandoned = slabsToLeave(slabs, used, this.#earlier.values(), this.#writer.slabBytes);
    if (abandoned.size === 0) return;
    this.#writer.expectedBytes = [...abandoned].reduce((sum, slab) => sum + used[slab], 0);
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

  #move(number: number): void {
    const { slabs, places } = this.table;
    const [slab, start, end] = places.subarray(number * PLACE);
    const at = this.#writer.position(end - start);
    this.#place(number, this.#writer.append(slabs[slab].bytes, start, end), at, at + end - start);
  }

  /** Numbers the records again if most of the numbers are free. */
  #leaveNumbers(isUsed: Bytes): void {
    const { places } = this.table;
    const next = new Uint32Array(this.#count);
    let count = 0;
    for (let number = 0; number < next.length; number++) if (isUsed[number] === 1) next[number] = count++;
    if (2 * count >= this.#count) return;
    for (let number = 0; number < next.length; number++)
      if (isUsed[number] === 1) places.copyWithin(next[number] * PLACE, number * PLACE, (number + 1) * PLACE);
    this.#count = count;
    const renumber = (numbers: Uint32s, to = sharedUint32s(numbers.length)) => {
      for (let row = 0; row < numbers.length; row++) to[row] = next[numbers[row]];
      return to;
    };
    renumber(this.numbers, this.numbers);
    this.#staying = new Map(this.#staying.entries().map(([image, numbers]) => [image, renumber(numbers)]));
  }

  /** Returns the table without slabs that no image has, in memory of its size. */
  #compacted(): Pick<RecordTable, 'slabs' | 'places'> {
    const { slabs, places } = this.table;
    const isKept = slabsOf(this.table, [this.numbers, ...this.#staying.values()]);
    let count = 0;
    const slabOf = Array.from(isKept, (kept) => (kept === 1 ? count++ : 0));
    const length = this.#count * PLACE;
    const exact = length === places.length ? places : sharedUint32s(length);
    for (let at = 0; at < length; at += PLACE) {
      exact[at] = slabOf[places[at]];
      exact[at + 1] = places[at + 1];
      exact[at + 2] = places[at + 2];
    }
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

/** Returns the records of texts, as an image of its own. */
export function recordsImage(texts: readonly string[], slabBytes?: number): RecordsImage {
  const records = texts.map((text) => Buffer.from(`${text},`));
  const bytes = records.reduce((sum, { length }) => sum + length, 0);
  const builder = new RecordsBuilder({ count: records.length, bytes, slabBytes, isShared: false });
  for (const [row, record] of records.entries()) builder.copy(row, record, Uint32Array.of(0, record.length));
  return builder.finish();
}
