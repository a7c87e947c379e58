import { type Bytes, type Row, sharedUint32s, type Uint32s } from './memory/shared-arrays.ts';
import { PLACE, type RecordsImage, type Slab } from './records.ts';
import { MIN_SHARE, slabsToLeave } from './slabs-to-leave.ts';
import { type SlabOptions, SlabWriter } from './slab-writer.ts';

/** Rows between two that are moved, and that move with them, so that the rows of a list become adjacent again. */
const MAX_GAP = 4;

/** No record is shorter: each begins with its id. */
const LEAST_BYTES = 8;

/** Records of a list in memory. */
export interface EarlierRecords {
  readonly records: RecordsImage;
  /** Whether they stay in memory beside the new ones. */
  readonly stays: boolean;
}

interface RecordsOptions extends SlabOptions {
  readonly count: number;
  readonly earlier?: readonly EarlierRecords[];
}

/**
 * Makes the records of a list, row by row: copies records into new slabs, or refers to those of earlier images. Finally,
 * moves records out of the slabs that are hardly used any longer, by ranges in list order.
 */
export class RecordsBuilder implements RecordsImage {
  /** Those of the earlier images, and the new ones. */
  readonly slabs: Slab[] = [];
  readonly places: Uint32s;
  readonly isShared: boolean;
  readonly #writer: SlabWriter;
  /** For each earlier image, the positions of its slabs among all. */
  readonly #positions: ReadonlyMap<RecordsImage, readonly number[]>;
  readonly #staying: readonly RecordsImage[];
  readonly #earlierSlabs: number;
  /** By slab and start: where a record was moved to, the position of its slab times 2^32, and its start there. */
  readonly #moved = new Map<number, Map<number, number>>();

  constructor({ count, earlier = [], ...options }: RecordsOptions) {
    this.places = sharedUint32s(count * PLACE);
    this.isShared = options.isShared;
    const positions = new Map<number, number>();
    const positionOf = (slab: Slab) => {
      const position = positions.get(slab.number) ?? this.slabs.push(slab) - 1;
      positions.set(slab.number, position);
      return position;
    };
    this.#positions = new Map(earlier.map(({ records }) => [records, records.slabs.map(positionOf)]));
    this.#staying = earlier.filter(({ stays }) => stays).map(({ records }) => records);
    this.#earlierSlabs = this.slabs.length;
    this.#writer = new SlabWriter(this.slabs, options);
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
      for (; i < end; i++)
        this.#place(first + i - from, slab, at + offsets[i] - start, at + offsets[i + 1] - start);
    }
  }

  /** Refers to the record of a row of an earlier image. */
  refer(row: Row, image: RecordsImage, other: Row): void {
    const { places } = image;
    const at = other * PLACE;
    this.#place(row, this.#positionsOf(image)[places[at]], places[at + 1], places[at + 2]);
  }

  #place(row: Row, slab: number, start: number, end: number): void {
    const at = row * PLACE;
    this.places[at] = slab;
    this.places[at + 1] = start;
    this.places[at + 2] = end;
  }

  /** Finishes the new image. */
  finish(): RecordsImage {
    this.#leaveSlabs();
    this.#writer.finishSlab();
    return this.#imageOf(this, this.places);
  }

  /** Returns an earlier image that stays, with its records where they are after `finish`. */
  continued(image: RecordsImage): RecordsImage {
    const positions = this.#positionsOf(image);
    const hasMoved = this.#staying.includes(image) && positions.some((slab) => this.#moved.has(slab));
    return hasMoved ? this.#imageOf(image, sharedUint32s(image.places.length)) : image;
  }

  /** Returns the positions of the slabs of an image among all; its own ones for the new image. */
  #positionsOf(image: RecordsImage): readonly number[] {
    return this.#positions.get(image) ?? [...this.slabs.keys()];
  }

  /** Returns an image of records where they are now. */
  #imageOf(image: RecordsImage, places: Uint32s): RecordsImage {
    const slabs: Slab[] = [];
    /** By position among all slabs: the position in the image, from 1 on. */
    const own = new Uint32Array(this.slabs.length);
    let row = 0;
    this.#visit(image, (slab, start, end) => {
      const moved = this.#moved.get(slab)?.get(start);
      const position = moved === undefined ? slab : Math.floor(moved / 2 ** 32);
      const at = PLACE * row++;
      if (own[position] === 0) own[position] = slabs.push(this.slabs[position]);
      places[at] = own[position] - 1;
      places[at + 1] = moved === undefined ? start : moved % 2 ** 32;
      places[at + 2] = places[at + 1] + end - start;
    });
    return { slabs, places, isShared: image.isShared };
  }

  /** Moves records out of slabs that are hardly used, and those in short gaps between them in list order. */
  #leaveSlabs(): void {
    if (this.#earlierSlabs === 0) return;
    const used = this.#usedBytes();
    const { copiedBytes, slabBytes } = this.#writer;
    const abandoned = slabsToLeave(this.slabs.slice(0, this.#earlierSlabs), used, copiedBytes, slabBytes);
    this.#writer.expectedBytes = [...abandoned].reduce((sum, slab) => sum + used[slab], 0);
    if (abandoned.size === 0) return;
    const { places } = this;
    for (let at = 0, last = 0; at < places.length; at += PLACE) {
      const slab = places[at];
      if (!abandoned.has(slab)) continue;
      const isNear = at - last <= MAX_GAP * PLACE && places[last] === slab;
      for (let next = isNear ? last + PLACE : at; next < at; next += PLACE) {
        const [other, start, end] = places.subarray(next);
        const rest = used[other] - (end - start);
        if (other >= this.#earlierSlabs || rest < MIN_SHARE * this.slabs[other].bytes.length) continue;
        used[other] = rest;
        this.#move(other, start, end);
      }
      this.#move(slab, places[at + 1], places[at + 2]);
      last = at;
    }
    for (const image of this.#staying)
      this.#visit(image, (slab, start, end) => {
        if (abandoned.has(slab)) this.#move(slab, start, end);
      });
  }

  /** Moves a record, unless that was done before. */
  #move(slab: number, start: number, end: number): void {
    const moved = this.#moved.get(slab) ?? new Map<number, number>();
    if (moved.has(start)) return;
    const to = this.#writer.position(end - start);
    moved.set(start, this.#writer.append(this.slabs[slab].bytes, start, end) * 2 ** 32 + to);
    this.#moved.set(slab, moved);
  }

  /** Computes for each earlier slab the bytes of the records that stay in memory. */
  #usedBytes(): number[] {
    const earlier = this.slabs.slice(0, this.#earlierSlabs);
    const used = earlier.map(() => 0);
    // A bit for the records that may begin in it.
    const counted = earlier.map(({ bytes }) => new Uint8Array(Math.ceil(bytes.length / LEAST_BYTES / 8)));
    for (const image of [this, ...this.#staying])
      this.#visit(image, (slab, start, end) => {
        if (slab >= earlier.length) return;
        const bit = Math.floor(start / LEAST_BYTES);
        const mask = 1 << (bit % 8);
        if ((counted[slab][bit >>> 3] & mask) !== 0) return;
        counted[slab][bit >>> 3] |= mask;
        used[slab] += end - start;
      });
    return used;
  }

  /** Calls a function with each record of an image: the position of its slab among all, its start, and its end. */
  #visit(image: RecordsImage, call: (slab: number, start: number, end: number) => void): void {
    const { places } = image;
    const positions = this.#positionsOf(image);
    for (let at = 0; at < places.length; at += PLACE)
      call(positions[places[at]], places[at + 1], places[at + 2]);
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
