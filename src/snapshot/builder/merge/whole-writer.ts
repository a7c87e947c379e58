import type Database from 'better-sqlite3';
import type { Instant } from '../../../contract/timestamp.ts';
import type { CollectionLayout } from '../../format/layout.ts';
import { type DeclaredList, NO_RECORDS } from '../../format/manifest.ts';
import type { EarlierRecord, EarlierSnapshot } from '../staging/earlier-snapshot.ts';
import type { StagedRecord } from '../staging/staging-file.ts';
import { EarlierList } from './earlier-list.ts';
import { ListTotals } from './list-totals.ts';

/** Writes the lists of a collection whole: the staged records, and those that stay of an earlier whole file. */
export class WholeWriter {
  readonly #layout: CollectionLayout;
  readonly #earlier: EarlierSnapshot | undefined;
  readonly #copied: EarlierList | undefined;
  readonly #insert: Database.Statement;
  /** Of the lists from which a record has left. */
  readonly #totalsOf = new Map<string, ListTotals>();
  #organizationId = '';
  #firstRow = 1;
  #isMerged = false;
  #totals: ListTotals;

  /** @param earlier its file is attached as `earlier` */
  constructor(database: Database.Database, layout: CollectionLayout, earlier?: EarlierSnapshot) {
    const { name, columns } = layout;
    this.#layout = layout;
    this.#totals = new ListTotals(layout);
    this.#earlier = earlier;
    this.#copied = earlier && new EarlierList(database, layout);
    const values = ['id', ...columns].map(() => '?');
    this.#insert = database.prepare(`INSERT INTO ${name} VALUES (NULL, ?, ${values.join()}, ?, ?)`);
  }

  /** Leaves an earlier record out. */
  leave(organizationId: string, id: string): void {
    const found = this.#earlier?.find(this.#layout, organizationId, id);
    if (found === undefined) return;
    this.#copied?.leave(found);
    const totals = this.#totalsOf.get(organizationId) ?? this.#earlierTotals(organizationId);
    totals.remove(found);
    this.#totalsOf.set(organizationId, totals);
  }

  #earlierList(organizationId: string): DeclaredList {
    return this.#earlier?.organizations.get(organizationId)?.lists[this.#layout.name] ?? NO_RECORDS;
  }

  #earlierTotals(organizationId: string): ListTotals {
    return new ListTotals(this.#layout, this.#earlierList(organizationId));
  }

  /**
   * Begins the list of an organization. Yields the numbers of records that were copied of those before it.
   * @param firstRow of the list
   * @param isMerged whether it has the earlier records that do not leave
   */
  *begin(organizationId: string, firstRow: number, isMerged: boolean): Generator<number> {
    this.#organizationId = organizationId;
    this.#firstRow = firstRow;
    this.#isMerged = isMerged;
    if (isMerged) {
      yield* this.#copied?.begin(this.#earlierList(organizationId)) ?? [];
      this.#totals = this.#totalsOf.get(organizationId) ?? this.#earlierTotals(organizationId);
    } else {
      yield* this.#copied?.copy() ?? [];
      this.#totals = new ListTotals(this.#layout);
    }
  }

  /** Writes the next record, behind the earlier ones that come before it. Yields the numbers of these. */
  *put(record: StagedRecord, changedAt: Instant, found?: EarlierRecord): Generator<number> {
    if (this.#isMerged) yield* this.#copied?.copyBefore(record, found) ?? [];
    this.#insert.run(this.#organizationId, record.id, ...record.values, changedAt, record.json);
    this.#totals.add(record);
  }

  /** Returns the list, without its digest. */
  end(): DeclaredList {
    if (this.#isMerged) this.#copied?.end();
    return this.#totals.list(this.#firstRow);
  }

  /** Copies the rest. Yields the numbers of records. */
  *finish(): Generator<number> {
    yield* this.#copied?.copy() ?? [];
  }
}
