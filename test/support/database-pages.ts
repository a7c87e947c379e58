import { readFileSync, writeFileSync } from 'node:fs';
import Database from 'better-sqlite3';

/** Numbers of the pages of a database file are from 1. https://www.sqlite.org/fileformat2.html */

const FILE_HEADER_BYTES = 100;
const INTERIOR_TABLE = 5;
const INTERIOR_INDEX = 2;

/** The pages of a database file, open to change. `save` adapts the size in the header to the number of pages. */
export class DatabasePages {
  readonly pageSize: number;
  readonly #path: string;
  readonly #pages: Buffer[];
  readonly #roots: ReadonlyMap<string, number>;

  constructor(path: string) {
    const bytes = readFileSync(path);
    const { pageSize, roots } = structureOf(path);
    this.pageSize = pageSize;
    this.#path = path;
    this.#roots = roots;
    this.#pages = Array.from({ length: bytes.length / pageSize }, (_, i) =>
      bytes.subarray(i * pageSize, (i + 1) * pageSize),
    );
  }

  get count(): number {
    return this.#pages.length;
  }

  page(number: number): Buffer {
    return this.#pages[number - 1];
  }

  /** Returns the root page of a table or index. */
  rootOf(name: string): number {
    const root = this.#roots.get(name);
    if (root === undefined) throw new Error(`no table or index ${name}`);
    return root;
  }

  /** Appends an empty page. Returns its number. */
  append(): number {
    return this.#pages.push(Buffer.alloc(this.pageSize));
  }

  /** The offset of the header of a tree page. */
  headerAt(number: number): number {
    return number === 1 ? FILE_HEADER_BYTES : 0;
  }

  isInterior(number: number): boolean {
    return [INTERIOR_TABLE, INTERIOR_INDEX].includes(this.page(number)[this.headerAt(number)]);
  }

  /** Returns the offsets of the cells of a tree page. */
  cellsOf(number: number): number[] {
    const page = this.page(number);
    const header = this.headerAt(number);
    const first = header + (this.isInterior(number) ? 12 : 8);
    const count = page.readUInt16BE(header + 3);
    return Array.from({ length: count }, (_, i) => page.readUInt16BE(first + 2 * i));
  }

  /** Sets the last child of an interior page. */
  setLastChild(number: number, child: number): void {
    this.page(number).writeUInt32BE(child, this.headerAt(number) + 8);
  }

  /** Writes an interior page of a table in which each cell, and the last child, links to `child`. */
  linkManyTimes(number: number, child: number): void {
    const page = this.page(number);
    const header = this.headerAt(number);
    page.fill(0, header);
    const count = Math.floor((this.pageSize - header - 12) / 8);
    page[header] = INTERIOR_TABLE;
    page.writeUInt16BE(count, header + 3);
    for (let i = 0; i < count; i++) {
      const cell = this.pageSize - 6 * (i + 1);
      page.writeUInt16BE(cell, header + 12 + 2 * i);
      page.writeUInt32BE(child, cell);
      page.writeUInt16BE(0x8100 + (i & 0x7f), cell + 4); // a key of two bytes
    }
    page.writeUInt16BE(this.pageSize - 6 * count, header + 5);
    this.setLastChild(number, child);
  }

  save(): void {
    this.page(1).writeUInt32BE(this.count, 28);
    writeFileSync(this.#path, Buffer.concat(this.#pages));
  }
}

function structureOf(path: string) {
  const database = new Database(path, { readonly: true });
  const pageSize = Number(database.pragma('page_size', { simple: true }));
  const roots = database
    .prepare<[], [string, number]>('SELECT name, rootpage FROM sqlite_schema WHERE rootpage > 0')
    .raw()
    .all();
  database.close();
  return { pageSize, roots: new Map(roots) };
}

/** Writes a database file anew with another page size. */
export function setPageSize(path: string, pageSize: number): void {
  const database = new Database(path);
  database.pragma(`page_size = ${pageSize}`);
  database.exec('VACUUM');
  database.close();
}
