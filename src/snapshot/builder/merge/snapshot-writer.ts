import type Database from 'better-sqlite3';
import type { Instant } from '../../../contract/timestamp.ts';
import { byCollection, type CollectionLayout } from '../../format/layout.ts';
import { type DigestedManifest, instantOf, NO_RECORDS } from '../../format/manifest.ts';
import { storedColumns } from '../../format/schema.ts';
import type { WrittenOrganization } from '../../write/complete-snapshot.ts';
import { NewFile } from '../../write/new-file.ts';
import type { EarlierSnapshot } from '../staging/earlier-snapshot.ts';
import type { StagedRecord } from '../staging/staging-file.ts';
import type { Comparison } from './comparison.ts';
import { MergedList, mergeStatements } from './merged-list.ts';
import { StagedList } from './staged-list.ts';

/** Records reported at once. */
const REPORTED = 1000;

/** Writes a new snapshot: all of it, or with an earlier one what has changed since the whole file of that. */
export class SnapshotWriter implements Disposable {
  /** Number of records that are new or differ from their earlier selves. */
  changed = 0;
  deletions = 0;
  readonly #organizations: readonly WrittenOrganization[];
  readonly #file: NewFile;
  readonly #instant: Instant;
  readonly #earlier: EarlierSnapshot | undefined;
  readonly #insertDeletion: Database.Statement<[string, string, string, Instant]>;

  /**
   * @param names of the organizations by id, in the order of the ids
   * @param producedAt ISO 8601, UTC
   * @param earlier has the times with which histories began, and the records that stay
   */
  constructor(
    path: string,
    names: ReadonlyMap<string, string>,
    producedAt: string,
    earlier?: EarlierSnapshot,
  ) {
    this.#instant = instantOf(producedAt);
    this.#earlier = earlier;
    this.#file = new NewFile(path, earlier !== undefined);
    const { database } = this.#file;
    earlier?.snapshot.latest.attachTo(database, 'earlier');
    this.#insertDeletion = database.prepare('INSERT OR IGNORE INTO deletions VALUES (?, ?, ?, ?)');
    this.#organizations = Array.from(names, ([organizationId, name]) => {
      const since = earlier?.organizations.get(organizationId)?.since ?? producedAt;
      return { organizationId, name, since, lists: byCollection(() => NO_RECORDS) };
    });
  }

  /**
   * Writes a collection, and deletions. Yields the numbers of staged records.
   * @param staged by organization and in list order
   */
  *write(
    layout: CollectionLayout,
    staged: Generator<StagedRecord, undefined>,
    comparison?: Comparison,
  ): Generator<number> {
    const { name } = layout;
    const { database } = this.#file;
    const earlier = this.#earlier;
    const deleted = this.#writeDeletions(layout, comparison);
    const values = storedColumns(layout).map(() => '?');
    const insert = database.prepare(`INSERT INTO ${name} VALUES (?, ${values.join()})`);
    const statements = earlier && mergeStatements(database, layout);
    let [firstRow, count] = [1, 0];
    try {
      let next = staged.next().value;
      for (const [organization, { organizationId, lists }] of this.#organizations.entries()) {
        const isMerged = comparison?.isMerged(layout, organization) === true;
        const list =
          isMerged && earlier && statements
            ? new MergedList(layout, statements, organizationId, earlier)
            : new StagedList(layout, insert, organizationId, firstRow, earlier);
        if (list instanceof MergedList)
          deleted.get(organization)?.forEach((id) => {
            list.leave(id);
          });
        for (; next?.organization === organization; next = staged.next().value) {
          const found = earlier?.find(layout, organizationId, next.id);
          const isSame =
            found?.json === next.json && next.values.every((value, i) => value === found.values[i]);
          if (!isSame) this.changed++;
          list.put(next, isSame ? found.changedAt : this.#instant, found);
          if (++count % REPORTED === 0) yield REPORTED;
        }
        lists[name] = list.end(firstRow);
        firstRow += lists[name].recordCount;
      }
      yield count % REPORTED;
    } finally {
      // Ends the query, also before its last row.
      staged.return(undefined);
    }
  }

  /** Writes the deletions of a collection. Returns the ids of deleted records of merged lists by organization. */
  #writeDeletions(layout: CollectionLayout, comparison?: Comparison): ReadonlyMap<number, readonly string[]> {
    const deleted = new Map<number, string[]>();
    for (const { organization, id, isDeleted } of comparison?.leaving(layout) ?? []) {
      if (!isDeleted) continue;
      this.#writeDeletion(this.#organizations[organization].organizationId, layout.name, id, this.#instant);
      if (comparison?.isMerged(layout, organization) !== true) continue;
      const ids = deleted.get(organization);
      if (ids === undefined) deleted.set(organization, [id]);
      else ids.push(id);
    }
    return deleted;
  }

  #writeDeletion(organizationId: string, collection: string, id: string, deletedAt: Instant): void {
    this.deletions += this.#insertDeletion.run(organizationId, collection, id, deletedAt).changes;
  }

  /**
   * Completes and closes the file, and checks what was written. Pauses after some steps.
   * @throws RefusedSnapshot when records that were copied are damaged
   */
  *finish(
    header: Omit<DigestedManifest, 'organizations'>,
    comparison?: Comparison,
  ): Generator<undefined, void> {
    // Those since the whole file are part of the changes.
    const [first = header] = header.ancestors;
    const times = [first.producedAt, header.changesSince || first.producedAt].map(instantOf);
    const since = times[0] < times[1] ? times[0] : times[1];
    for (const { organization, collection, id, deletedAt } of comparison?.deletionsSince(since) ?? [])
      this.#writeDeletion(this.#organizations[organization].organizationId, collection, id, deletedAt);
    yield* this.#file.index();
    yield* this.#file.complete(header, this.#organizations);
  }

  [Symbol.dispose](): void {
    this.#file[Symbol.dispose]();
  }
}
