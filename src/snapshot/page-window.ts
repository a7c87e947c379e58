import { readSync } from 'node:fs';
import { RefusedSnapshot } from './refused-snapshot.ts';

/** The page before it holds the header of the file and the schema. */
const FIRST_OF_CONTENT = 2;

/** As much as is read at once where pages follow each other: it stays in the processor's cache. */
const MOST_BYTES = 256 * 1024;

/** Looks at the pages of an SQLite file, some of them at a time. */
export class PageWindow {
  /** What was read last; the next read overwrites it. */
  bytes: Buffer;
  readonly #file: number;
  readonly #pageBytes: number;
  readonly #mostPages: number;
  #first = 0;
  #count = 0;

  constructor(file: number, pageBytes: number) {
    this.#file = file;
    this.#pageBytes = pageBytes;
    this.#mostPages = Math.max(1, Math.floor(MOST_BYTES / pageBytes));
    this.bytes = Buffer.allocUnsafeSlow(pageBytes);
  }

  /**
   * Where in `bytes` a page begins.
   * @throws RefusedSnapshot when the file has no such page, or one that no table of content has
   */
  offsetOf(page: number): number {
    if (page < this.#first || page >= this.#first + this.#count) this.#read(page);
    return (page - this.#first) * this.#pageBytes;
  }

  /** Reads one page; the more of them the longer each follows the one before. */
  #read(page: number): void {
    if (page !== page >>> 0 || page < FIRST_OF_CONTENT) throw missing(page);
    const isNext = this.#count > 0 && page === this.#first + this.#count;
    const pages = isNext ? Math.min(2 * this.#count, this.#mostPages) : 1;
    const bytes = pages * this.#pageBytes;
    if (bytes > this.bytes.length) this.bytes = Buffer.allocUnsafeSlow(bytes);
    const read = readSync(this.#file, this.bytes, 0, bytes, (page - 1) * this.#pageBytes);
    this.#first = page;
    this.#count = Math.floor(read / this.#pageBytes);
    if (this.#count === 0) throw missing(page);
  }
}

function missing(page: number): RefusedSnapshot {
  return new RefusedSnapshot(
    'damaged',
    `it has no page ${page} with rows: the file is damaged; copy or build it again`,
  );
}
