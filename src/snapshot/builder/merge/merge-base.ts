import type { CollectionLayout } from '../../format/layout.ts';
import { BaseRun, isBefore, type OrderKey, orderKey } from './base-run.ts';
import { type EarlierSnapshot, IMPORTED_ANEW } from './earlier-snapshot.ts';
import type { CopiedRun, StagedRecord } from './snapshot-writer.ts';
import type { Staging } from '../staging/staging.ts';

/** A run of the base with its rows that change. */
interface ComparedRun {
  readonly run: BaseRun;
  readonly changed: ReadonlySet<number>;
}

/** Merges the imported records into those of a base, in list order. */
export class BaseMerge {
  readonly #base: EarlierSnapshot;
  readonly #organizationIds: readonly string[];
  readonly #staging: Staging;
  /** Whether a run of the base is cut as the builder never cuts one. Then no run is copied from there on. */
  #isForeign = false;

  /** @param organizationIds in ascending order */
  constructor(base: EarlierSnapshot, organizationIds: readonly string[], staging: Staging) {
    this.#base = base;
    this.#organizationIds = organizationIds;
    this.#staging = staging;
  }

  /** Iterates over a collection, by organization and in list order. Runs that stay as they are come as a whole. */
  *records(layout: CollectionLayout): Generator<StagedRecord | CopiedRun> {
    if (IMPORTED_ANEW.includes(layout)) {
      yield* this.#staging.records(layout);
      return;
    }
    using imported = new ImportedRecords(layout, this.#staging.records(layout));
    for (const organization of this.#organizationIds.keys()) {
      yield* this.#mergeRuns(layout, organization, imported);
      for (const { record } of imported.takeBefore(organization, undefined)) yield record;
    }
  }

  /**
   * Merges the runs of an organization with the imported records.
   *
   * A run is copied as a whole when a full build would cut the same run: the run does not change, the next one begins
   * with the same record as before, and the run itself begins by the hash of its first id or after a copied run.
   */
  *#mergeRuns(
    layout: CollectionLayout,
    organization: number,
    imported: ImportedRecords,
  ): Generator<StagedRecord | CopiedRun> {
    const runs = this.#compareRuns(layout, organization);
    let followsCopy = true; // or is the first one
    let next: ComparedRun | undefined;
    for (let current = runs.next().value; current !== undefined; current = next) {
      next = runs.next().value;
      const { run, changed } = current;
      const end = next?.run.firstKey;
      this.#isForeign ||= !run.endsAsBuilt(next?.run);
      const isCopied: boolean =
        !this.#isForeign &&
        changed.size === 0 &&
        next?.changed.has(0) !== true &&
        !imported.hasBefore(organization, end) &&
        (followsCopy || run.beginsByHash);
      if (isCopied) yield { organization, run: run.run };
      else yield* mergeRun(current, imported, end, this.#isForeign);
      followsCopy = isCopied;
    }
  }

  *#compareRuns(layout: CollectionLayout, organization: number): Generator<ComparedRun, undefined> {
    const { changes } = this.#staging;
    const organizationId = this.#organizationIds[organization];
    const mayChange = changes.hasAny(layout, organization);
    for (const entry of this.#base.runs(layout, organizationId)) {
      const run = new BaseRun(layout, organization, this.#base.read(layout, organizationId, entry));
      const changed = mayChange ? run.changedRows(changes) : new Set<number>();
      yield { run, changed };
    }
    return undefined;
  }
}

/** Merges the records of a run that stay with the imported ones before `end`, the place of the next run. */
function* mergeRun(
  { run, changed }: ComparedRun,
  imported: ImportedRecords,
  end: OrderKey | undefined,
  isForeign: boolean,
): Generator<StagedRecord> {
  let row = 0;
  for (const { record, key } of imported.takeBefore(run.organization, end)) {
    for (const until = run.rowOf(key); row < until; row++)
      if (!changed.has(row)) yield run.record(row, isForeign);
    yield record;
  }
  for (; row < run.count; row++) if (!changed.has(row)) yield run.record(row, isForeign);
}

interface PlacedRecord {
  readonly record: StagedRecord;
  readonly key: OrderKey;
}

/** The imported records of a collection, taken one after the other. */
class ImportedRecords implements Disposable {
  readonly #layout: CollectionLayout;
  readonly #records: Generator<StagedRecord, undefined>;
  /** The first record that is not taken. */
  #next: PlacedRecord | undefined;

  constructor(layout: CollectionLayout, records: Generator<StagedRecord, undefined>) {
    this.#layout = layout;
    this.#records = records;
    this.#advance();
  }

  /** Returns whether an organization has a record before `end`; undefined is the end of the list. */
  hasBefore(organization: number, end: OrderKey | undefined): boolean {
    if (this.#next?.record.organization !== organization) return false;
    return end === undefined || isBefore(this.#layout, this.#next.key, end);
  }

  /** Takes the records of an organization before `end`. */
  *takeBefore(organization: number, end: OrderKey | undefined): Generator<PlacedRecord> {
    for (let next = this.#next; next !== undefined && this.hasBefore(organization, end); next = this.#next) {
      this.#advance();
      yield next;
    }
  }

  /** Ends the query, also before its last row. */
  [Symbol.dispose](): void {
    this.#records.return(undefined);
  }

  #advance(): void {
    const record = this.#records.next().value;
    this.#next = record && { record, key: orderKey(this.#layout, record.json.toString()) };
  }
}
