import type Database from 'better-sqlite3';
import { parseTimestamp } from '../../../contract/timestamp.ts';
import type { CollectionName } from '../../../contract/operations.ts';
import { type CollectionLayout, OFFERS } from '../../format/layout.ts';
import { declaredCounts } from '../../format/manifest.ts';
import type { SnapshotOrigin } from '../../../store/organization-image.ts';
import type { StagedRecord } from '../staging/staging-file.ts';
import { LINKED, type Staging } from '../staging/staging.ts';
import { isBefore, placeOf } from '../../format/list-order.ts';
import type { EarlierRun, MergedRecord } from '../staging/earlier-run.ts';
import type { EarlierSnapshot } from '../staging/earlier-snapshot.ts';

/** An earlier record that the new snapshot lacks. */
export interface GoneRecord {
  readonly collection: string;
  /** Position of its organization in the order of the ids. */
  readonly organization: number;
  readonly id: string;
  /** Time of the first snapshot without it, ISO 8601; undefined for the new one. */
  readonly deletedAt: string | undefined;
}

/** A part of a collection: a record, a canonical run of which all records stay, or a record that is gone. */
export type MergedPart = MergedRecord | EarlierRun | GoneRecord;

/** Compares the records of an earlier snapshot, a base or the previous one, with the new records, by id. */
export class Comparison {
  /** Number of records whose id the import has. */
  replaced = 0;
  /** Number of records that the new snapshot lacks. */
  deleted = 0;
  /** Number of those that the import deletes. */
  requested = 0;
  /** Numbers of earlier records, without those that the import deletes, also from any organization. */
  readonly expected: ReadonlyMap<string, Record<CollectionName, number>>;
  readonly #staging: Staging;
  readonly #earlier: EarlierSnapshot;
  readonly #insertLinked: Database.Statement<[number, string, string]>;
  readonly #selectLinked: Database.Statement<[number, string], string>;

  constructor(staging: Staging, earlier: EarlierSnapshot) {
    this.#staging = staging;
    this.#earlier = earlier;
    this.expected = new Map(Array.from(earlier.organizations, ([id, one]) => [id, declaredCounts(one)]));
    if (earlier.isBase) staging.ids.buildFilter();
    const { database } = staging;
    database.exec(`
      CREATE TABLE earlier (
        organization INTEGER, content TEXT, changed_at TEXT NOT NULL, PRIMARY KEY (organization, content)
      ) STRICT, WITHOUT ROWID`);
    this.#insertLinked = database.prepare('INSERT OR IGNORE INTO earlier VALUES (?, ?, ?)');
    this.#selectLinked = database.prepare(
      'SELECT changed_at FROM earlier WHERE organization = ? AND content = ?',
    );
    this.#selectLinked.pluck();
  }

  /** Yields the staged records of a collection, the earlier ones that stay, and those that are gone. */
  compare(layout: CollectionLayout, staged: Generator<StagedRecord, undefined>): Iterable<MergedPart> {
    return LINKED.includes(layout) ? this.#compareLinked(layout, staged) : this.#merge(layout, staged);
  }

  /**
   * Merges staged records with the earlier ones that stay. Both are by organization and in list order, so a staged
   * record that did not change meets its earlier self, whose time it keeps.
   */
  *#merge(layout: CollectionLayout, staged: Generator<StagedRecord, undefined>): Generator<MergedPart> {
    try {
      let next = staged.next().value;
      for (const run of this.#earlier.uncheckedRuns(layout, this.#staging.organizationIds)) {
        let row = 0;
        while (next !== undefined) {
          const met = meet(run, next, row);
          if (met === undefined) break;
          run.check();
          yield* this.#rest(run, row, met.row);
          yield met.isSame ? { ...next, changedAt: run.changedAt(met.row) } : next;
          if (met.isSame) this.replaced++;
          row = met.isSame ? met.row + 1 : met.row;
          next = staged.next().value;
        }
        yield* this.#rest(run, row, run.count);
      }
      for (; next !== undefined; next = staged.next().value) yield next;
    } finally {
      // Ends the query, also before its last row.
      staged.return(undefined);
    }
  }

  /** Yields the records of a part of a run that stay or are gone. */
  *#rest(run: EarlierRun, from: number, to: number): Generator<MergedPart> {
    const staying: number[] = [];
    for (let row = from; row < to; row++) {
      const found = this.#lookUp(run, row);
      if (found === 'stays') staying.push(row);
      else if (typeof found === 'object') yield found;
    }
    if (run.isCanonical && staying.length === run.count) {
      yield run;
      return;
    }
    run.check();
    for (const row of staying) yield run.recordAt(row);
  }

  /** Looks up what becomes of a record, and counts it unless it stays. */
  #lookUp(run: EarlierRun, row: number): 'stays' | 'replaced' | GoneRecord {
    const { organization } = run;
    const { layout } = run.run;
    const named = this.#staging.ids.find(layout.name, organization, run.ids, row);
    // The ids of linked records that stay are staged.
    const isMerged = this.#staging.staying[organization] && !LINKED.includes(layout);
    if (named === 'base' || (named === undefined && isMerged)) return 'stays';
    if (named === 'import') {
      this.replaced++;
      return 'replaced';
    }
    this.deleted++;
    if (named === 'deletion') this.requested++;
    const expected = this.expected.get(this.#staging.organizationIds[organization]);
    if (named !== undefined && expected !== undefined) expected[layout.name]--;
    return { collection: layout.name, organization, id: run.idAt(row), deletedAt: undefined };
  }

  /** Adds the time of its last change to each record of a linked collection that equals the earlier one. */
  *#compareLinked(layout: CollectionLayout, staged: Iterable<StagedRecord>): Generator<MergedPart> {
    for (const run of this.#earlier.runs(layout, this.#staging.organizationIds)) {
      for (let row = 0; row < run.count; row++) {
        const found = this.#lookUp(run, row);
        if (typeof found === 'object') yield found;
        const content = linkedContent({ json: run.jsonAt(row), values: run.valuesAt(row) });
        this.#insertLinked.run(run.organization, content, run.changedAt(row));
      }
    }
    for (const record of staged) {
      const changedAt = this.#selectLinked.get(record.organization, linkedContent(record));
      yield { ...record, changedAt };
    }
  }

  /** Yields the earlier deletions since the first ancestor, except those of records that the import has. */
  *deletionsSince(ancestors: readonly SnapshotOrigin[]): Generator<GoneRecord> {
    const after = parseTimestamp(ancestors.at(0)?.producedAt ?? '');
    const { ids, organizationIds } = this.#staging;
    for (const [organization, organizationId] of organizationIds.entries()) {
      for (const { collection, id, deletedAt, instant } of this.#earlier.deletions(organizationId)) {
        if (after === undefined || instant <= after) continue;
        if (ids.get(collection, organization, id) === 'import') continue;
        yield { collection, organization, id, deletedAt };
      }
    }
  }
}

/** Returns the content of an event or a session, ids included: its record, and the event of a session in its columns. */
function linkedContent({ json, values }: Pick<StagedRecord, 'json' | 'values'>): string {
  return json + values.join();
}

/**
 * Returns the row of a run, from a row on, before which a record belongs, and whether it is the record of that row.
 * Returns undefined when it follows the run.
 */
function meet(run: EarlierRun, staged: StagedRecord, from: number) {
  const { json, organization } = staged;
  const { layout } = run.run;
  if (organization !== run.organization)
    return organization < run.organization ? { row: from, isSame: false } : undefined;
  // Mostly, the records of both are the same, and none has to be parsed.
  if (from < run.count && isSame(run, from, staged)) return { row: from, isSame: true };
  const place = placeOf(layout, json);
  if (isBefore(layout, run.placeAt(run.count - 1), place)) return undefined;
  const row = run.rowOf(place, from);
  return { row, isSame: row < run.count && isSame(run, row, staged) };
}

/** Returns whether the record of a row is a staged one. Of an offer, only the columns name the events that hold it. */
function isSame(run: EarlierRun, row: number, { json, values }: StagedRecord): boolean {
  const isServedAlike = run.jsonAt(row) === json;
  if (!isServedAlike || run.run.layout !== OFFERS) return isServedAlike;
  run.check();
  return run.valuesAt(row).join() === values.join();
}
