import { MAX_RECORD_BYTES } from './format.ts';
import { PageWindow } from './page-window.ts';
import { damaged, readVarint, varint } from './varint.ts';

/** Of an SQLite file that is open. */
export interface PagedFile {
  readonly descriptor: number;
  readonly pageBytes: number;
  /** What of a page SQLite uses: it may leave some bytes at its end. */
  readonly usableBytes: number;
}

/** A row is a record, and values of it once more. */
const MOST_ROW_BYTES = 4 * MAX_RECORD_BYTES;
const LEAF = 0x0d;
const INTERIOR = 0x05;
const LEAF_HEADER = 8;
const INTERIOR_HEADER = 12;

/** An interior page on the way to the leaf: which of its children that way takes. */
interface Level {
  readonly bytes: Buffer;
  page: number;
  cells: number;
  child: number;
}

/**
 * The rows of a table as they lie in the pages of an SQLite file, in ascending order of their row ids: a B-tree whose
 * leaves hold the rows (https://www.sqlite.org/fileformat2.html#b_tree_pages). To look at them where they lie costs
 * neither a call of SQLite a row nor a copy of its text.
 *
 * Nothing is believed of what the pages say: what does not fit is refused, and what was read is digested by the caller.
 */
export class StoredRows {
  /** Of the row that `next` found. */
  rowId = -1;
  /** The row's record in SQLite's format is `bytes[start … end]` until the next call of `next`. */
  bytes: Buffer;
  start = 0;
  end = 0;

  readonly #file: PagedFile;
  readonly #root: number;
  readonly #leaves: PageWindow;
  readonly #overflow: PageWindow;
  readonly #levels: Level[] = [];
  /** How many interior pages lead to a leaf, when that is known: to all the same number. */
  #depth: number | undefined;
  /** Where in its window the leaf begins, and how many of its rows are passed. */
  #leaf = 0;
  #cells = 0;
  #passed = 0;
  #spilled = Buffer.alloc(0);

  /** @param root the number of the table's first page */
  constructor(file: PagedFile, root: number) {
    this.#file = file;
    this.#root = root;
    this.#leaves = new PageWindow(file.descriptor, file.pageBytes);
    this.#overflow = new PageWindow(file.descriptor, file.pageBytes);
    this.bytes = this.#spilled;
  }

  /** Makes `next` find the row with this id, or the first after it. */
  seek(rowId: number): void {
    let page = this.#root;
    let depth = 0;
    for (; this.#enter(page, depth); depth++) {
      const level = this.#levels[depth];
      let low = 0;
      let high = level.cells;
      while (low < high) {
        const middle = (low + high) >>> 1;
        const key = readVarint(level.bytes, cellAt(level, middle) + 4, this.#file.pageBytes);
        if (key < rowId) low = middle + 1;
        else high = middle;
      }
      level.child = low;
      page = childOf(level);
    }
    // The rows of one leaf are few: they are passed one by one.
    while (this.#passed < this.#cells) {
      const at = this.#leaf + this.#cell(this.#passed);
      readVarint(this.#leaves.bytes, at, this.#leaf + this.#file.pageBytes);
      if (readVarint(this.#leaves.bytes, varint.end, this.#leaf + this.#file.pageBytes) >= rowId) return;
      this.#passed++;
    }
  }

  /**
   * Goes on to the next row. False when there is none.
   * @throws RefusedSnapshot
   */
  next(): boolean {
    while (this.#passed === this.#cells) if (!this.#nextLeaf()) return false;
    const { bytes } = this.#leaves;
    const pageEnd = this.#leaf + this.#file.usableBytes;
    const length = readVarint(bytes, this.#leaf + this.#cell(this.#passed++), pageEnd);
    this.rowId = readVarint(bytes, varint.end, pageEnd);
    if (length <= this.#file.usableBytes - 35) {
      this.bytes = bytes;
      this.start = varint.end;
      this.end = this.start + length;
      if (this.end > pageEnd) throw damaged();
    } else {
      this.#gather(length, varint.end, pageEnd);
    }
    return true;
  }

  /** Where in its page a row of the leaf lies. */
  #cell(index: number): number {
    const at = this.#leaf + LEAF_HEADER + 2 * index;
    return this.#leaves.bytes[at] * 256 + this.#leaves.bytes[at + 1];
  }

  #nextLeaf(): boolean {
    if (this.#depth === undefined) return false;
    let depth = this.#depth - 1;
    while (depth >= 0 && this.#levels[depth].child === this.#levels[depth].cells) depth--;
    if (depth < 0) return false;
    this.#levels[depth].child++;
    while (this.#enter(childOf(this.#levels[depth]), depth + 1)) this.#levels[++depth].child = 0;
    // Only the one leaf of an empty table is without rows: so no ring of pages is walked for ever.
    if (this.#cells === 0) throw damaged();
    return true;
  }

  /** Goes to a page. False when it is a leaf. */
  #enter(page: number, depth: number): boolean {
    if (depth === this.#depth) {
      this.#enterLeaf(page);
      return false;
    }
    if (depth < this.#levels.length && this.#levels[depth].page === page) return true;
    const { pageBytes } = this.#file;
    const at = this.#leaves.offsetOf(page);
    if (this.#leaves.bytes[at] !== INTERIOR) {
      if (this.#depth !== undefined) throw damaged();
      this.#depth = depth;
      this.#enterLeaf(page);
      return false;
    }
    if (depth === this.#levels.length)
      this.#levels.push({ bytes: Buffer.alloc(pageBytes), page: 0, cells: 0, child: 0 });
    const level = this.#levels[depth];
    this.#leaves.bytes.copy(level.bytes, 0, at, at + pageBytes);
    level.page = page;
    level.cells = level.bytes.readUInt16BE(3);
    if (INTERIOR_HEADER + 2 * level.cells > pageBytes || level.cells === 0 || depth > MOST_LEVELS)
      throw damaged();
    return true;
  }

  #enterLeaf(page: number): void {
    const at = this.#leaves.offsetOf(page);
    const { bytes } = this.#leaves;
    this.#leaf = at;
    this.#cells = bytes[at + 3] * 256 + bytes[at + 4];
    this.#passed = 0;
    if (bytes[at] !== LEAF || LEAF_HEADER + 2 * this.#cells > this.#file.usableBytes) throw damaged();
  }

  /** Puts together a record that goes on in other pages: https://www.sqlite.org/fileformat2.html#ovflpgs */
  #gather(length: number, start: number, pageEnd: number): void {
    const { usableBytes } = this.#file;
    if (length > MOST_ROW_BYTES) throw damaged();
    const least = Math.floor(((usableBytes - 12) * 32) / 255) - 23;
    const fitting = least + ((length - least) % (usableBytes - 4));
    const local = fitting <= usableBytes - 35 ? fitting : least;
    if (start + local + 4 > pageEnd) throw damaged();
    if (this.#spilled.length < length) this.#spilled = Buffer.allocUnsafeSlow(length);
    this.#leaves.bytes.copy(this.#spilled, 0, start, start + local);
    let page = this.#leaves.bytes.readUInt32BE(start + local);
    for (let gathered = local; gathered < length;) {
      if (page === 0) throw damaged();
      const at = this.#overflow.offsetOf(page);
      const { bytes } = this.#overflow;
      page = bytes.readUInt32BE(at);
      const part = Math.min(usableBytes - 4, length - gathered);
      bytes.copy(this.#spilled, gathered, at + 4, at + 4 + part);
      gathered += part;
    }
    this.bytes = this.#spilled;
    this.start = 0;
    this.end = length;
  }
}

/** SQLite itself goes no deeper. */
const MOST_LEVELS = 20;

function cellAt({ bytes }: Level, index: number): number {
  return bytes.readUInt16BE(INTERIOR_HEADER + 2 * index);
}

/** The page that the way takes from here. */
function childOf(level: Level): number {
  const at = level.child < level.cells ? cellAt(level, level.child) : 8;
  if (at + 4 > level.bytes.length) throw damaged();
  return level.bytes.readUInt32BE(at);
}
