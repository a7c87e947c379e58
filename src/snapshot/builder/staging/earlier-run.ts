import type { Instant } from '../../../contract/timestamp.ts';
import { decodeText, type Texts } from '../../../store/index/texts.ts';
import { isBefore, type Place, placeOf } from '../../format/list-order.ts';
import { beginsRun } from '../../format/schema.ts';
import { divideRecords } from '../../load/collection-loader.ts';
import type { Run } from '../../load/run-reader.ts';
import type { StagedRecord } from './staging-file.ts';

/** A record as the snapshot writer receives it. */
export interface MergedRecord extends Omit<StagedRecord, 'json'> {
  readonly json: string | Buffer;
  /** Time of the earlier snapshot in which the record became as it is, ISO 8601; undefined if it is new or differs. */
  readonly changedAt?: string | undefined;
}

/** A run of an earlier snapshot. Its records and columns are decoded only where they are needed. */
export class EarlierRun {
  readonly run: Run;
  readonly count: number;
  /** Position of the organization in the order of the ids. */
  readonly organization: number;
  /** Whether the run is cut by the rule of the builder. */
  readonly isCanonical: boolean;
  #division: ReturnType<typeof divideRecords> | undefined;
  /** By row, where they were needed. */
  readonly #places: Place[] = [];
  #isChecked = false;
  readonly #changes: ReturnType<Run['changes']>;
  readonly #since: string;

  /**
   * @param since time of the changes that the run does not declare
   * @param until time of the snapshot
   * @throws RefusedSnapshot when the changes differ from their digest
   */
  constructor(
    organization: number,
    run: Run,
    { isCanonical, since, until }: { isCanonical: boolean; since: string; until: Instant },
  ) {
    this.run = run;
    this.count = run.entry.recordCount;
    this.organization = organization;
    this.isCanonical = isCanonical;
    this.#changes = run.changes(until);
    this.#since = since;
  }

  /**
   * The records by their declared lengths.
   * @throws RefusedSnapshot when they differ
   */
  get #divided(): ReturnType<typeof divideRecords> {
    return (this.#division ??= divideRecords(this.run));
  }

  get ids(): Texts {
    return this.#divided.ids;
  }

  /**
   * Checks the content against its digest, once.
   * @throws RefusedSnapshot
   */
  check(): void {
    if (!this.#isChecked) this.run.checkDigest();
    this.#isChecked = true;
  }

  /** Returns the time of the snapshot in which a record became as it is, ISO 8601. */
  changedAt(row: number): string {
    const { times, of } = this.#changes;
    return times.length === 0 ? this.#since : times[of[row]].text;
  }

  idAt(row: number): string {
    return decodeText(this.ids, row);
  }

  /** Returns whether the id of a record begins a run. In a canonical run, only the first record may. */
  beginsRun(row: number): boolean {
    return (row === 0 || !this.isCanonical) && beginsRun(this.idAt(row));
  }

  placeAt(row: number): Place {
    return (this.#places[row] ??= placeOf(this.run.layout, this.jsonAt(row)));
  }

  /** Returns the first row from one on whose record does not come before a place; `count` when there is none. */
  rowOf(place: Place, from: number): number {
    const { layout } = this.run;
    let low = from;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (isBefore(layout, this.placeAt(middle), place)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  jsonAt(row: number): string {
    return this.bytesAt(row).toString();
  }

  *records(): Generator<MergedRecord> {
    this.check();
    for (let row = 0; row < this.count; row++) yield this.recordAt(row);
  }

  recordAt(row: number): MergedRecord {
    const { organization } = this;
    const [beginsRun, values, json] = [this.beginsRun(row), this.valuesAt(row), this.bytesAt(row)];
    return { organization, beginsRun, values, json, changedAt: this.changedAt(row) };
  }

  bytesAt(row: number): Buffer {
    const { offsets } = this.#divided;
    return this.run.records.subarray(offsets[row], offsets[row + 1] - 1);
  }

  valuesAt(row: number): readonly string[] {
    return this.run.valuesAt(row);
  }
}
