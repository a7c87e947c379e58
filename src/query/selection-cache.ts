import type { RowRanges } from '../store/index/wavelet-matrix.ts';

/** The rows of a query, without the matrix that its ranges refer to. */
type FoundRows = Omit<RowRanges, 'matrix'>;

/** Estimated bytes of an entry in addition to its rows and its key: objects and the slot of the map. */
const ENTRY_BYTES = 300;

/**
 * Keeps the rows of recent queries for requests of further pages. One bound of bytes applies to all collections
 * together; the least recently used entry is evicted first.
 *
 * The cache retains no shared memory: it copies the rows, and identifies a collection by a number that is never
 * reused. Entries of a released snapshot are therefore never hit and are eventually evicted.
 */
export class SelectionCache {
  readonly #maxBytes: number;
  /** Least recently used first. */
  readonly #entries = new Map<string, { readonly found: FoundRows; readonly bytes: number }>();
  readonly #numbers = new WeakMap<object, number>();
  #lastNumber = 0;
  bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /**
   * Returns the rows of a query over an immutable collection, from the cache or from `find`.
   * @param query text that no other query over the collection has
   */
  get(collection: object, query: string, find: () => FoundRows): FoundRows {
    const number = this.#numbers.get(collection) ?? ++this.#lastNumber;
    this.#numbers.set(collection, number);
    const key = `${number} ${query}`;
    const known = this.#entries.get(key);
    if (known !== undefined) {
      this.#entries.delete(key);
      this.#entries.set(key, known);
      return known.found;
    }
    const { ranges, listed } = find();
    const found = { ranges: ranges.slice(), listed: listed.slice() };
    this.#keep(key, found);
    return found;
  }

  #keep(key: string, found: FoundRows): void {
    const bytes = found.ranges.byteLength + found.listed.byteLength + 2 * key.length + ENTRY_BYTES;
    if (bytes > this.#maxBytes) return;
    this.#entries.set(key, { found, bytes });
    this.bytes += bytes;
    for (const [oldest, entry] of this.#entries) {
      if (this.bytes <= this.#maxBytes) break;
      this.#entries.delete(oldest);
      this.bytes -= entry.bytes;
    }
  }
}
