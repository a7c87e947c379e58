import { COMMA } from '../../store/records.ts';
import type { CollectionLayout } from '../format/layout.ts';
import { MAX_RUN_BYTES, MAX_RUN_RECORDS } from '../format/run.ts';
import { contentColumns, LENGTHS_COLUMN, RECORDS_COLUMN } from '../format/schema.ts';
import type { StagedRecord } from './staging.ts';

/** Gathers consecutive records of one organization until they make a run. */
export class GrowingRun {
  readonly layout: CollectionLayout;
  readonly organization: number;
  /** Length of the records, commas included. */
  recordBytes = 0;
  readonly #lengths: number[] = [];
  readonly #values: readonly (string | number)[][];
  /** Length of each column but for a bracket; a repeated text counts as often as it comes. */
  readonly #columnBytes: number[];
  /** For each column of texts, the position at which a text appeared first. */
  readonly #positions: readonly (Map<string, number> | undefined)[];
  readonly #records: Buffer;

  /** @param records room for the records of a run: `MAX_RUN_BYTES`, which each run overwrites */
  constructor(layout: CollectionLayout, organization: number, records: Buffer) {
    this.layout = layout;
    this.organization = organization;
    this.#records = records;
    this.#values = layout.columns.map(() => []);
    this.#columnBytes = layout.columns.map(() => 1);
    this.#positions = layout.columns.map(({ holds }) => (holds === 'text' ? new Map() : undefined));
  }

  get count(): number {
    return this.#lengths.length;
  }

  /** Whether the next record does not belong to this run. */
  isEndedBy({ organization, beginsRun, json, values }: StagedRecord): boolean {
    return (
      beginsRun ||
      organization !== this.organization ||
      this.count === MAX_RUN_RECORDS ||
      this.recordBytes + 1 + Buffer.byteLength(json) > MAX_RUN_BYTES ||
      this.#columnBytes.some((bytes, i) => bytes + 1 + Buffer.byteLength(values[i]) > MAX_RUN_BYTES)
    );
  }

  add({ values, json }: StagedRecord): void {
    for (const [i, value] of values.entries()) {
      this.#columnBytes[i] += 1 + Buffer.byteLength(value);
      this.#values[i].push(this.#element(i, value));
    }
    if (this.count > 0) this.#records[this.recordBytes++] = COMMA;
    const length = this.#records.write(json, this.recordBytes);
    this.#lengths.push(length);
    this.recordBytes += length;
  }

  /** Returns the element of a column that stands for a value: of a text that is there already, its position. */
  #element(column: number, value: string): string | number {
    const positions = this.#positions[column];
    if (positions === undefined) return value;
    const position = positions.get(value);
    if (position === undefined) positions.set(value, this.count);
    return position ?? value;
  }

  /** Returns the content columns, in the order of the schema. */
  columns(): Buffer[] {
    const values = new Map([
      [LENGTHS_COLUMN, arrayOf(this.#lengths)],
      ...this.layout.columns.map(({ column }, i) => [column, arrayOf(this.#values[i])] as const),
      [RECORDS_COLUMN, this.#records.subarray(0, this.recordBytes)],
    ]);
    return contentColumns(this.layout.table).map((column) => {
      const value = values.get(column);
      if (value === undefined) throw new TypeError(`no values for column ${column}`);
      return value;
    });
  }
}

/** Returns a JSON array of elements that are JSON. */
function arrayOf(elements: readonly (string | number)[]): Buffer {
  return Buffer.from(`[${elements.join(',')}]`);
}
