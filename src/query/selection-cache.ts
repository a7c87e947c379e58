import type { Uint32s } from '../store/memory/shared-arrays.ts';

/** The rows that were found for a question: those at ranges of a matrix, and others, as in `RowRanges`. */
export interface Found {
  readonly ranges: Uint32s;
  readonly others: Uint32s;
}

/** What an entry takes beside its rows and its question: objects and the place in the map. */
const ENTRY_BYTES = 300;

/**
 * What questions were answered with lately, so that the next page of the same is not worked out anew. It is bounded in
 * bytes over all that is asked of; what was not asked for the longest time goes first.
 *
 * It holds nobody's memory but its own: an answer is a copy, and what is asked of is known by a number that no other
 * gets, so that of a snapshot that is gone there is nothing left but answers that soon go as well.
 */
export class SelectionCache {
  readonly #maxBytes: number;
  readonly #entries = new Map<string, { readonly found: Found; readonly bytes: number }>();
  readonly #numbers = new WeakMap<object, number>();
  #lastNumber = 0;
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /**
   * The answer to a question, worked out when it is not there.
   * @param source what never changes, and is asked
   */
  answer(source: object, question: string, find: () => Found): Found {
    const key = `${this.#numberOf(source)} ${question}`;
    const known = this.#entries.get(key);
    if (known !== undefined) {
      this.#entries.delete(key);
      this.#entries.set(key, known);
      return known.found;
    }
    const { ranges, others } = find();
    const found = { ranges: ranges.slice(), others: others.slice() };
    this.#keep(key, found);
    return found;
  }

  #keep(key: string, found: Found): void {
    const bytes = found.ranges.byteLength + found.others.byteLength + 2 * key.length + ENTRY_BYTES;
    if (bytes > this.#maxBytes) return;
    this.#entries.set(key, { found, bytes });
    this.#bytes += bytes;
    for (const [oldest, entry] of this.#entries) {
      if (this.#bytes <= this.#maxBytes) break;
      this.#entries.delete(oldest);
      this.#bytes -= entry.bytes;
    }
  }

  #numberOf(source: object): number {
    let number = this.#numbers.get(source);
    if (number === undefined) {
      number = ++this.#lastNumber;
      this.#numbers.set(source, number);
    }
    return number;
  }
}
