import { readFileSync, writeFileSync } from 'node:fs';
import Database from 'better-sqlite3';

/** Small pages give the small import trees of several levels, and overflow chains. */
export const PAGE_SIZE = 512;

const INTERIOR_TABLE = 5;
const INTERIOR_INDEX = 2;

/** The pages of a database file, open to change, with numbers from 1. https://www.sqlite.org/fileformat2.html */
export class DatabasePages {
  readonly #path: string;
  readonly #pages: Buffer[];

  constructor(path: string) {
    const bytes = readFileSync(path);
    this.#path = path;
    this.#pages = Array.from({ length: bytes.length / PAGE_SIZE }, (_, i) =>
      bytes.subarray(i * PAGE_SIZE, (i + 1) * PAGE_SIZE),
    );
  }

  page(number: number): Buffer {
    return this.#pages[number - 1];
  }

  /** Returns the root page of a table. */
  rootOf(table: string): number {
    const database = new Database(this.#path, { readonly: true });
    const select = database
      .prepare<[string], number>('SELECT rootpage FROM sqlite_schema WHERE name = ?')
      .pluck();
    const root = select.get(table) ?? NaN;
    database.close();
    return root;
  }

  /** Returns the first leaf of the tree with this root. */
  firstLeaf(root: number): number {
    if (!this.#isInterior(root)) return root;
    const [cell] = this.cellsOf(root);
    return this.firstLeaf(this.page(root).readUInt32BE(cell));
  }

  /** Returns the offsets of the cells of a tree page. */
  cellsOf(number: number): number[] {
    const page = this.page(number);
    const header = this.#headerAt(number);
    const first = header + (this.#isInterior(number) ? 12 : 8);
    const count = page.readUInt16BE(header + 3);
    return Array.from({ length: count }, (_, i) => page.readUInt16BE(first + 2 * i));
  }

  /** Appends an empty page. Returns its number. */
  append(): number {
    return this.#pages.push(Buffer.alloc(PAGE_SIZE));
  }

  /** Returns the last child of an interior page. */
  lastChildOf(number: number): number {
    return this.page(number).readUInt32BE(this.#headerAt(number) + 8);
  }

  /** Sets the last child of an interior page. */
  setLastChild(number: number, child: number): void {
    if (!this.#isInterior(number)) throw new Error(`page ${number} is a leaf`);
    this.page(number).writeUInt32BE(child, this.#headerAt(number) + 8);
  }

  /** Writes an interior page of a table in which each cell, and the last child, links to `child`. */
  linkManyTimes(number: number, child: number): void {
    const page = this.page(number);
    const header = this.#headerAt(number);
    page.fill(0, header);
    const count = Math.floor((PAGE_SIZE - header - 12) / 8);
    page[header] = INTERIOR_TABLE;
    page.writeUInt16BE(count, header + 3);
    for (let i = 0; i < count; i++) {
      const cell = PAGE_SIZE - 6 * (i + 1);
      page.writeUInt16BE(cell, header + 12 + 2 * i);
      page.writeUInt32BE(child, cell);
      page.writeUInt16BE(0x8100 + (i & 0x7f), cell + 4); // a key of two bytes
    }
    page.writeUInt16BE(PAGE_SIZE - 6 * count, header + 5);
    this.setLastChild(number, child);
  }

  /** Makes each cell of an interior page, and the last child, link to `child`. */
  linkAll(number: number, child: number): void {
    for (const cell of this.cellsOf(number)) this.page(number).writeUInt32BE(child, cell);
    this.setLastChild(number, child);
  }

  /** Writes the file. Adapts the size in its header to the number of pages. */
  save(): void {
    this.page(1).writeUInt32BE(this.#pages.length, 28);
    writeFileSync(this.#path, Buffer.concat(this.#pages));
  }

  /** Returns the offset of the header of a tree page. On page 1, it follows the header of the file. */
  #headerAt(number: number): number {
    return number === 1 ? 100 : 0;
  }

  #isInterior(number: number): boolean {
    return [INTERIOR_TABLE, INTERIOR_INDEX].includes(this.page(number)[this.#headerAt(number)]);
  }
}
