import type Database from 'better-sqlite3';
import type { Instant } from '../../../contract/timestamp.ts';
import { byCollection, type CollectionLayout, COLLECTIONS } from '../../format/layout.ts';
import { type DigestedManifest, instantOf, NO_RECORDS } from '../../format/manifest.ts';
import { damaged } from '../../format/refused-snapshot.ts';
import type { WrittenOrganization } from '../../write/complete-snapshot.ts';
import { NewFile } from '../../write/new-file.ts';
import type { EarlierSnapshot } from '../staging/earlier-snapshot.ts';
import type { StagedRecord } from '../staging/staging-file.ts';
import type { Comparison } from './comparison.ts';
import { ChangesWriter } from './changes-writer.ts';
import { WholeWriter } from './whole-writer.ts';

/** Records reported at once. */
const REPORTED = 1000;

/** Writes a new snapshot: a whole file, or the changes of an earlier one since its whole file. */
export class SnapshotWriter implements Disposable {
  /** Number of records that are new or differ from their earlier selves. */
  changed = 0;
  deletions = 0;
  readonly organizations: readonly WrittenOrganization[];
  readonly #file: NewFile;
  readonly #instant: Instant;
  readonly #earlier: EarlierSnapshot | undefined;
  readonly #isOfChanges: boolean;
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
    isOfChanges = false,
  ) {
    this.#instant = instantOf(producedAt);
    this.#earlier = earlier;
    this.#isOfChanges = isOfChanges;
    this.#file = new NewFile(path, isOfChanges);
    const { database } = this.#file;
    earlier?.snapshot.latest.attachTo(database, 'earlier');
    this.#insertDeletion = database.prepare('INSERT OR IGNORE INTO deletions VALUES (?, ?, ?, ?)');
    this.organizations = Array.from(names, ([organizationId, name]) => {
      const since = earlier?.organizations.get(organizationId)?.since ?? producedAt;
      return { organizationId, name, since, lists: byCollection(() => NO_RECORDS) };
    });
  }

  /**
   * Writes a collection, and deletions. Yields the numbers of records that were written.
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
    const lists =
      this.#isOfChanges && earlier !== undefined
        ? new ChangesWriter(database, layout, earlier)
        : new WholeWriter(database, layout, earlier);
    for (const { organization, id, isDeleted } of comparison?.leaving(layout) ?? []) {
      const { organizationId } = this.organizations[organization];
      if (isDeleted) this.#writeDeletion(organizationId, name, id, this.#instant);
      if (comparison?.isMerged(layout, organization) === true) lists.leave(organizationId, id, isDeleted);
    }
    let written = 0;
    let firstRow = 1;
    try {
      let next = staged.next().value;
      for (const [organization, { organizationId, lists: declared }] of this.organizations.entries()) {
        const isMerged = comparison?.isMerged(layout, organization) === true;
        yield* lists.begin(organizationId, firstRow, isMerged);
        for (; next?.organization === organization; next = staged.next().value) {
          const found = earlier?.find(layout, organizationId, next.id);
          const isSame =
            found?.json === next.json && next.values.every((value, i) => value === found.values[i]);
          if (!isSame) this.changed++;
          yield* lists.put(next, isSame ? found.changedAt : this.#instant, found);
          if (++written % REPORTED === 0) yield REPORTED;
        }
        declared[name] = lists.end();
        firstRow += declared[name].recordCount;
      }
      yield* lists.finish();
      yield written % REPORTED;
    } finally {
      // Ends the query, also before its last row.
      staged.return(undefined);
    }
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
    const { ancestors } = header;
    for (const { organization, collection, id, deletedAt } of comparison?.deletionsSince(ancestors) ?? [])
      this.#writeDeletion(this.organizations[organization].organizationId, collection, id, deletedAt);
    yield* this.#file.index();
    if (comparison !== undefined) for (const layout of COLLECTIONS) this.#checkDeleted(layout, comparison);
    yield* this.#file.complete(header, this.organizations);
  }

  /** Refuses a record that was copied although it is deleted, since the index of the earlier snapshot lacks its id. */
  #checkDeleted(layout: CollectionLayout, comparison: Comparison): void {
    const { name, idColumn } = layout;
    const select = this.#file.database.prepare<[string, string]>(
      `SELECT 1 FROM ${name} WHERE organization_id = ? AND ${idColumn} = ?`,
    );
    for (const [organization, id] of comparison.deletionsOf(layout))
      if (select.get(this.organizations[organization].organizationId, id) !== undefined)
        throw damaged(`the index of ${name} of the earlier snapshot lacks "${id}"`);
  }

  [Symbol.dispose](): void {
    this.#file[Symbol.dispose]();
  }
}
