import { randomUUID } from 'node:crypto';
import type Database from 'better-sqlite3';
import type { Instant } from '../../../contract/timestamp.ts';
import type { SnapshotOrigin } from '../../../store/organization-image.ts';
import { byCollection, type CollectionLayout, COLLECTIONS } from '../../format/layout.ts';
import { instantOf, NO_RECORDS, type Permit } from '../../format/manifest.ts';
import { damaged } from '../../format/refused-snapshot.ts';
import { SCHEMA, sumText } from '../../format/schema.ts';
import type { EarlierSnapshot } from '../staging/earlier-snapshot.ts';
import { newDatabase, type StagedRecord } from '../staging/staging-file.ts';
import type { Comparison } from './comparison.ts';
import { completeSnapshot, type WrittenOrganization } from './complete-snapshot.ts';
import { EarlierList, stagedDigest } from './earlier-list.ts';

/** Records reported at once. */
const REPORTED = 1000;

/** Pages for rows of a kilobyte, of which a look-up reads few. */
const PAGE_BYTES = 16_384;

/** Writes a new snapshot file, which no other process reads yet. */
export class SnapshotWriter implements Disposable {
  /** Number of records that are new or differ from their earlier selves. */
  changed = 0;
  deletions = 0;
  readonly #producedAt: string;
  readonly #instant: Instant;
  readonly #database: Database.Database;
  readonly #insertDeletion: Database.Statement<[string, string, string, Instant]>;
  readonly #organizations: readonly WrittenOrganization[];
  readonly #earlier: EarlierSnapshot | undefined;
  /** SQL that creates the indexes, once all records are written. */
  readonly #indexes: readonly string[];

  /**
   * @param organizations names by id, in the order of the ids
   * @param producedAt ISO 8601, UTC
   * @param earlier has the times with which histories began, and the records that are copied
   */
  constructor(
    path: string,
    organizations: ReadonlyMap<string, string>,
    producedAt: string,
    earlier?: EarlierSnapshot,
  ) {
    this.#producedAt = producedAt;
    this.#instant = instantOf(producedAt);
    this.#earlier = earlier;
    this.#database = newDatabase(path, PAGE_BYTES);
    this.#database.exec(SCHEMA);
    const indexes = this.#database
      .prepare<[], { name: string; sql: string }>(
        "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql NOTNULL",
      )
      .all();
    for (const { name } of indexes) this.#database.exec(`DROP INDEX ${name}`);
    this.#indexes = indexes.map(({ sql }) => sql);
    earlier?.attachTo(this.#database);
    this.#insertDeletion = this.#database.prepare('INSERT OR IGNORE INTO deletions VALUES (?, ?, ?, ?)');
    this.#organizations = Array.from(organizations, ([organizationId, name]) => {
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
    const { name, idColumn, columns } = layout;
    const earlier = this.#earlier && new EarlierList(this.#database, layout);
    const counts = this.#organizations.map(() => 0);
    const sums = this.#organizations.map(() => 0n);
    const longest = this.#organizations.map(() => 0);
    const isMerged = (organization: number) => comparison?.isMerged(layout, organization) === true;
    for (const { organization, id, isDeleted } of comparison?.leaving(layout) ?? []) {
      const { organizationId } = this.#organizations[organization];
      if (isDeleted) this.#writeDeletion(organizationId, name, id, this.#instant);
      if (earlier === undefined || !isMerged(organization)) continue;
      sums[organization] -= earlier.leave(organizationId, id);
      counts[organization]--;
    }
    const values = [idColumn, ...columns.map(({ column }) => column)].map(() => '?');
    const insert = this.#database.prepare(`INSERT INTO ${name} VALUES (NULL, ?, ${values.join()}, ?, ?)`);
    let inserted = 0;
    try {
      let next = staged.next().value;
      for (const [organization, { organizationId }] of this.#organizations.entries()) {
        const list = isMerged(organization)
          ? this.#earlier?.organizations.get(organizationId)?.lists[name]
          : undefined;
        if (list === undefined) yield* earlier?.copy() ?? [];
        else {
          yield* earlier?.begin(list) ?? [];
          counts[organization] += list.recordCount;
          sums[organization] += BigInt(`0x${list.recordsSum}`);
          longest[organization] = list.longestRow;
        }
        for (; next?.organization === organization; next = staged.next().value) {
          const found = earlier?.find(organizationId, next);
          if (list !== undefined) yield* earlier?.copyBefore(next, found) ?? [];
          if (found?.changedAt === undefined) this.changed++;
          insert.run(organizationId, next.id, ...next.values, found?.changedAt ?? this.#instant, next.json);
          sums[organization] += stagedDigest(layout, next);
          longest[organization] = Math.max(longest[organization], bytesOf(next));
          counts[organization]++;
          if (++inserted % REPORTED === 0) yield REPORTED;
        }
        if (list !== undefined) earlier?.end();
      }
      yield* earlier?.copy() ?? [];
      yield inserted % REPORTED;
    } finally {
      // Ends the query, also before its last row.
      staged.return(undefined);
    }
    let firstRow = 1;
    for (const [i, { lists }] of this.#organizations.entries()) {
      const recordCount = counts[i];
      const recordsSum = sumText(sums[i]);
      if (recordCount > 0)
        lists[name] = { ...NO_RECORDS, firstRow, recordCount, longestRow: longest[i], recordsSum };
      firstRow += recordCount;
    }
  }

  #writeDeletion(organizationId: string, collection: string, id: string, deletedAt: Instant): void {
    this.deletions += this.#insertDeletion.run(organizationId, collection, id, deletedAt).changes;
  }

  /**
   * Completes and closes the file, and checks what was written. Returns the snapshot id, after some steps.
   * @param ancestors earliest first
   * @throws RefusedSnapshot when records that were copied are damaged
   */
  *finish(
    ancestors: readonly SnapshotOrigin[],
    permits: readonly Permit[] = [],
    comparison?: Comparison,
  ): Generator<undefined, string> {
    for (const { organization, collection, id, deletedAt } of comparison?.deletionsSince(ancestors) ?? [])
      this.#writeDeletion(this.#organizations[organization].organizationId, collection, id, deletedAt);
    for (const sql of this.#indexes) {
      this.#database.exec(sql);
      yield;
    }
    if (comparison !== undefined) for (const layout of COLLECTIONS) this.#checkDeleted(layout, comparison);
    const snapshot = { snapshotId: randomUUID(), producedAt: this.#producedAt, permits, ancestors };
    yield* completeSnapshot(this.#database, snapshot, this.#organizations);
    this.#database.exec('COMMIT');
    this.#database.close();
    return snapshot.snapshotId;
  }

  /** Refuses a record that was copied although it is deleted, since the index of the earlier snapshot lacks its id. */
  #checkDeleted(layout: CollectionLayout, comparison: Comparison): void {
    const { name, idColumn } = layout;
    const select = this.#database.prepare<[string, string]>(
      `SELECT 1 FROM ${name} WHERE organization_id = ? AND ${idColumn} = ?`,
    );
    for (const [organization, id] of comparison.deletionsOf(layout))
      if (select.get(this.#organizations[organization].organizationId, id) !== undefined)
        throw damaged(`the index of ${name} of the earlier snapshot lacks "${id}"`);
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }
}

/** Returns the bytes of a row that are bounded, as `rowBytes` does. */
function bytesOf({ id, values, json }: StagedRecord): number {
  let bytes = Buffer.byteLength(id) + Buffer.byteLength(json);
  for (const value of values) if (typeof value === 'string') bytes += Buffer.byteLength(value);
  return bytes;
}
