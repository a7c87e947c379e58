import type Database from 'better-sqlite3';
import { parseTimestamp } from '../../../contract/timestamp.ts';
import type { CollectionLayout } from '../../format/layout.ts';
import type { SnapshotOrigin } from '../../../store/organization-image.ts';
import type { StagedRecord } from '../staging/staging-file.ts';
import { LINKED, type Staging } from '../staging/staging.ts';
import { type EarlierRun, isBefore, placeOf, type Span } from '../staging/earlier-run.ts';
import type { EarlierSnapshot } from '../staging/earlier-snapshot.ts';
import type { SnapshotWriter } from './snapshot-writer.ts';

/** Compares the records of an earlier snapshot, a base or the previous one, with the new records, by id. */
export class Comparison {
  /** Number of records whose id the import has. */
  replaced = 0;
  /** Number of records that the new snapshot lacks. */
  deleted = 0;
  /** Number of those that the import deletes. */
  requested = 0;
  readonly #staging: Staging;
  readonly #earlier: EarlierSnapshot;
  readonly #writer: SnapshotWriter;
  readonly #insertLinked: Database.Statement<[string, number, string, string, string]>;
  readonly #selectLinked: Database.Statement<[string, number, string, string], string>;

  /** @param writer writes the deletions */
  constructor(staging: Staging, earlier: EarlierSnapshot, writer: SnapshotWriter) {
    this.#staging = staging;
    this.#earlier = earlier;
    this.#writer = writer;
    const { database } = staging;
    database.exec(`
      CREATE TABLE earlier (
        collection TEXT, organization INTEGER, id TEXT, content TEXT NOT NULL, changed_at TEXT NOT NULL,
        PRIMARY KEY (collection, organization, id)
      ) STRICT, WITHOUT ROWID`);
    this.#insertLinked = database.prepare('INSERT OR IGNORE INTO earlier VALUES (?, ?, ?, ?, ?)');
    this.#selectLinked = database.prepare(
      'SELECT changed_at FROM earlier WHERE collection = ? AND organization = ? AND id = ? AND content = ?',
    );
    this.#selectLinked.pluck();
  }

  /** Yields the staged records of a collection, and those of a base that stay. Notes which earlier ones are gone. */
  compare(
    layout: CollectionLayout,
    staged: Generator<StagedRecord, undefined>,
  ): Iterable<StagedRecord | Span> {
    return LINKED.includes(layout) ? this.#compareLinked(layout, staged) : this.#merge(layout, staged);
  }

  /**
   * Merges staged records with the earlier ones that stay. Both are by organization and in list order, so a staged
   * record that did not change meets its earlier self, whose time it keeps.
   */
  *#merge(
    layout: CollectionLayout,
    staged: Generator<StagedRecord, undefined>,
  ): Generator<StagedRecord | Span> {
    try {
      let next = staged.next().value;
      for (const run of this.#earlier.runs(layout, this.#staging.organizationIds)) {
        let row = 0;
        while (next !== undefined) {
          const met = meet(run, next, row, this.#earlier.isBase);
          if (met === undefined) break;
          yield* this.#staying(run, row, met.row);
          yield met.isSame === true ? { ...next, changedAt: run.changedAt(met.row) } : next;
          row = met.row;
          if (met.isSame !== undefined) {
            this.replaced++;
            row++;
          }
          next = staged.next().value;
        }
        yield* this.#staying(run, row, run.count);
      }
      for (; next !== undefined; next = staged.next().value) yield next;
    } finally {
      // Ends the query, also before its last row.
      staged.return(undefined);
    }
  }

  /** Yields the records of a part of a run that stay. */
  *#staying(run: EarlierRun, from: number, to: number): Generator<Span> {
    let first = from;
    for (let row = from; row < to; row++) {
      const stays = this.#stays(run, row);
      if (stays && (row === first || !run.beginsRun(row))) continue;
      if (first < row) yield { run, from: first, to: row };
      first = stays ? row : row + 1;
    }
    if (first < to) yield { run, from: first, to };
  }

  /** Looks up a record. Counts it unless it stays, and notes its deletion when it is gone. */
  #stays(run: EarlierRun, row: number): boolean {
    const { organization, ids } = run;
    const { layout } = run.run;
    const named = this.#staging.ids.find(layout.name, organization, ids, row);
    // The ids of linked records that stay are staged.
    const isMerged = this.#earlier.isBase && !LINKED.includes(layout);
    const origin = named ?? (isMerged ? 'base' : 'deletion');
    if (origin === 'base') return true;
    if (origin === 'import') this.replaced++;
    else {
      this.deleted++;
      if (named === 'deletion') this.requested++;
      this.#writer.addDeletion(organization, layout.name, run.idAt(row));
    }
    return false;
  }

  /** Adds the time of its last change to each record of a linked collection that equals the earlier one. */
  *#compareLinked(layout: CollectionLayout, staged: Iterable<StagedRecord>): Generator<StagedRecord> {
    const { name } = layout;
    for (const run of this.#earlier.runs(layout, this.#staging.organizationIds)) {
      for (let row = 0; row < run.count; row++) {
        this.#stays(run, row);
        const content = linkedContent({ json: run.jsonAt(row), values: run.valuesAt(row) });
        this.#insertLinked.run(name, run.organization, run.idAt(row), content, run.changedAt(row));
      }
    }
    for (const record of staged) {
      const { id } = placeOf(layout, record.json);
      const changedAt = this.#selectLinked.get(name, record.organization, id, linkedContent(record));
      yield { ...record, changedAt };
    }
  }

  /** Keeps the deletions since the earliest ancestor, except those of records that the import has. */
  keepDeletions(ancestors: readonly SnapshotOrigin[]): void {
    const after = parseTimestamp(ancestors.at(0)?.producedAt ?? '');
    const { ids, organizationIds } = this.#staging;
    for (const [organization, organizationId] of organizationIds.entries()) {
      for (const { collection, id, deletedAt, instant } of this.#earlier.deletions(organizationId)) {
        if (after === undefined || instant <= after) continue;
        if (ids.get(collection, organization, id) === 'import') continue;
        this.#writer.addDeletion(organization, collection, id, deletedAt);
      }
    }
  }
}

/** Returns the content of an event or a session: its record, and the event of a session, which the columns have. */
function linkedContent({ json, values }: Pick<StagedRecord, 'json' | 'values'>): string {
  return json + values.join();
}

/**
 * Returns the row of a run, from a row on, before which a record belongs; undefined when it follows the run. `isSame` is
 * whether the record of that row equals it; undefined if that has another id.
 */
function meet(
  run: EarlierRun,
  { json, organization }: StagedRecord,
  from: number,
  isMerged: boolean,
): { readonly row: number; readonly isSame?: boolean } | undefined {
  if (organization !== run.organization) return organization < run.organization ? { row: from } : undefined;
  const { layout } = run.run;
  if (from < run.count) {
    // Mostly, the records of both are the same, and none has to be parsed.
    if (run.jsonAt(from) === json) return { row: from, isSame: true };
    if (!isMerged && run.hasIdOf(from, json)) return { row: from, isSame: false };
  }
  const place = placeOf(layout, json);
  if (isBefore(layout, run.placeAt(run.count - 1), place)) return undefined;
  const row = run.rowOf(place, from);
  return row < run.count && run.idAt(row) === place.id ? { row, isSame: run.jsonAt(row) === json } : { row };
}
