import { ColumnText } from './column-text.ts';
import type { Column } from './column-text.ts';
import { RefusedSnapshot } from './refused-snapshot.ts';
import { damaged, readVarint, varint } from './varint.ts';
import type { StoredRows } from './stored-rows.ts';

/** Types of values: https://www.sqlite.org/fileformat2.html#record_format */
const ZERO = 8;
const ONE = 9;
const REAL = 7;
const FIRST_TEXT = 13;
/** Bytes of a whole number, by its type. */
const NUMBER_BYTES = [0, 1, 2, 3, 4, 6, 8];

/** The columns of a table, to which the values of its rows are added. */
export class StoredValues {
  readonly #table: string;
  readonly #names: readonly string[];
  readonly #columns: readonly ColumnText[];

  /**
   * @param names of the columns but for the first, which is the row id
   * @param rows the most that are taken before they are cleared
   */
  constructor(table: string, names: readonly string[], rows: number) {
    this.#table = table;
    this.#names = names;
    this.#columns = names.map(() => new ColumnText(rows));
  }

  /**
   * Takes a row apart, which is a header of types and then the values, and adds them to the columns.
   *
   * @param bases what numbers are lessened by, by column
   * @throws RefusedSnapshot when they are no texts and whole numbers
   */
  take({ bytes, start, end }: StoredRows, bases: readonly number[]): void {
    let at = start + readVarint(bytes, start, end);
    const headerEnd = at;
    if (headerEnd > end) throw damaged();
    readVarint(bytes, varint.end, headerEnd);
    for (let i = 0; i < this.#columns.length; i++) {
      const type = readVarint(bytes, varint.end, headerEnd);
      if (type >= FIRST_TEXT && type % 2 === 1) {
        const valueEnd = at + (type - FIRST_TEXT) / 2;
        if (valueEnd > end) throw damaged();
        this.#columns[i].addText(bytes, at, valueEnd);
        at = valueEnd;
      } else {
        at = this.#takeNumber(i, type, bytes, at, end, bases[i]);
      }
    }
  }

  #takeNumber(i: number, type: number, bytes: Buffer, at: number, end: number, base: number): number {
    const column = this.#columns[i];
    if (type === ZERO || type === ONE) {
      column.addNumber(type - ZERO - base);
      return at;
    }
    if (type === REAL)
      throw new RefusedSnapshot('inconsistent', 'a column of whole numbers holds something else');
    if (!(type > 0 && type < NUMBER_BYTES.length)) throw this.#otherKind(i);
    const valueEnd = at + NUMBER_BYTES[type];
    if (valueEnd > end) throw damaged();
    if (valueEnd - at <= 6) {
      column.addNumber(bytes.readIntBE(at, valueEnd - at) - base);
    } else {
      const value = bytes.readInt32BE(at) * 2 ** 32 + bytes.readUInt32BE(at + 4) - base;
      if (Number.isSafeInteger(value)) column.addNumber(value);
      else column.addBigInt(bytes.readBigInt64BE(at) - BigInt(base));
    }
    return valueEnd;
  }

  /** The values that were taken since the columns were cleared, by the names of the columns. */
  columns(): Map<string, Column> {
    const columns = new Map<string, Column>();
    for (const [i, name] of this.#names.entries()) {
      const column = this.#columns[i].column();
      if (column === undefined) throw this.#otherKind(i);
      columns.set(name, column);
    }
    return columns;
  }

  clear(): void {
    for (const column of this.#columns) column.clear();
  }

  #otherKind(i: number): RefusedSnapshot {
    return new RefusedSnapshot(
      'inconsistent',
      `column ${this.#names[i]} of ${this.#table} does not hold one text or number a row`,
    );
  }
}
