import { ColumnText } from './column-text.ts';
import type { Column } from './column-text.ts';
import { RECORD_COLUMN } from './format.ts';
import type { Table } from './format.ts';
import { IntegerColumn } from './integer-column.ts';
import { RefusedSnapshot } from './refused-snapshot.ts';
import { damaged, readVarint, varint } from './varint.ts';
import type { StoredRows } from './stored-rows.ts';

/** Types of values: https://www.sqlite.org/fileformat2.html#record_format */
const ZERO = 8;
const ONE = 9;
const FIRST_TEXT = 13;
/** Bytes of a whole number, by its type. */
const NUMBER_BYTES = [0, 1, 2, 3, 4, 6, 8];

/** Takes the texts of a column, one row's after the other's. */
export interface TextTaker {
  /** The text is UTF-8 in `source[start … end]`. */
  addText(source: Buffer, start: number, end: number): void;
}

/** The columns of a table, to which the values of its rows are added. */
export class StoredValues {
  readonly #table: Table;
  /** By column: the one or the other, by its type. */
  readonly #texts: readonly (ColumnText | undefined)[];
  readonly #integers: readonly (IntegerColumn | undefined)[];
  readonly #textTakers: (TextTaker | undefined)[];
  readonly #recordColumn: number;

  /** @param rows the most that are taken before they are cleared */
  constructor(table: Table, rows: number) {
    const isText = (column: string) => table.types.get(column) === 'TEXT';
    this.#table = table;
    this.#texts = table.columns.map((column) => (isText(column) ? new ColumnText(rows) : undefined));
    this.#integers = table.columns.map((column) => (isText(column) ? undefined : new IntegerColumn(rows)));
    this.#textTakers = [...this.#texts];
    this.#recordColumn = table.columns.indexOf(RECORD_COLUMN);
  }

  /**
   * Clears the columns, for other rows.
   * @param records takes the records from now on; without, they are a column as any
   */
  begin(records?: TextTaker): void {
    this.clear();
    if (this.#recordColumn >= 0)
      this.#textTakers[this.#recordColumn] = records ?? this.#texts[this.#recordColumn];
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
    for (let i = 0; i < this.#textTakers.length; i++) {
      const type = readVarint(bytes, varint.end, headerEnd);
      const taker = this.#textTakers[i];
      if (taker === undefined) {
        at = this.#takeNumber(i, type, bytes, at, end, bases[i]);
      } else {
        if (!(type >= FIRST_TEXT && type % 2 === 1)) throw this.#otherKind(i);
        const valueEnd = at + (type - FIRST_TEXT) / 2;
        if (valueEnd > end) throw damaged();
        taker.addText(bytes, at, valueEnd);
        at = valueEnd;
      }
    }
  }

  #takeNumber(i: number, type: number, bytes: Buffer, at: number, end: number, base: number): number {
    const column = this.#integers[i];
    if (column === undefined) throw new TypeError('a column has texts or numbers');
    if (type === ZERO || type === ONE) {
      column.addNumber(type - ZERO - base);
      return at;
    }
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
    for (const [i, name] of this.#table.columns.entries()) {
      const text = this.#texts[i];
      if (text !== this.#textTakers[i]) continue;
      const column = (text ?? this.#integers[i])?.column();
      if (column === undefined) throw this.#otherKind(i);
      columns.set(name, column);
    }
    return columns;
  }

  clear(): void {
    for (const column of this.#texts) column?.clear();
    for (const column of this.#integers) column?.clear();
  }

  #otherKind(i: number): RefusedSnapshot {
    const { name, columns } = this.#table;
    const kind = this.#texts[i] === undefined ? 'whole number' : 'text';
    return new RefusedSnapshot(
      'inconsistent',
      `column ${columns[i]} of ${name} does not hold one ${kind} a row`,
    );
  }
}
