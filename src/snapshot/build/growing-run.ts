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
  readonly #values: readonly string[][];
  /** Length of each column but for a bracket; a repeated text counts as often as it comes. */
  readonly #columnBytes: number[];
  /** For each column of texts, the position at which a text appeared first. */
  readonly #positions: readonly (Map<string, string> | undefined)[];
  readonly #records: string[] = [];

  constructor(layout: CollectionLayout, organization: number) {
    this.layout = layout;
    this.organization = organization;
    this.#values = layout.columns.map(() => []);
    this.#columnBytes = layout.columns.map(() => 1);
    this.#positions = layout.columns.map(({ holds }) => (holds === 'text' ? new Map() : undefined));
  }

  get count(): number {
    return this.#records.length;
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
    const length = Buffer.byteLength(json);
    this.recordBytes += length + (this.count === 0 ? 0 : 1);
    this.#lengths.push(length);
    for (const [i, value] of values.entries()) {
      this.#columnBytes[i] += 1 + Buffer.byteLength(value);
      this.#values[i].push(this.#element(i, value));
    }
    this.#records.push(json);
  }

  /** Returns the element of a column that stands for a value: of a text that is there already, its position. */
  #element(column: number, value: string): string {
    const positions = this.#positions[column];
    if (positions === undefined) return value;
    const position = positions.get(value);
    if (position === undefined) positions.set(value, String(this.count));
    return position ?? value;
  }

  /** Returns the content columns, in the order of the schema. */
  columns(): Buffer[] {
    const values = new Map<string, string>([
      [LENGTHS_COLUMN, `[${this.#lengths.join(',')}]`],
      ...this.layout.columns.map(({ column }, i) => [column, `[${this.#values[i].join(',')}]`] as const),
      [RECORDS_COLUMN, this.#records.join(',')],
    ]);
    return contentColumns(this.layout.table).map((column) => Buffer.from(values.get(column) ?? ''));
  }
}
