import { randomUUID } from 'node:crypto';
import type { CollectionName } from '../../../contract/operations.ts';
import type Database from 'better-sqlite3';
import { byCollection, type CollectionLayout, COLLECTIONS } from '../../format/layout.ts';
import type { SnapshotOrigin } from '../../../store/organization-image.ts';
import {
  contentDigest,
  historyDigest,
  manifestDigest,
  type ManifestOrganization,
  type Permit,
  permitValues,
  rowCount,
  type RunEntry,
} from '../../format/manifest.ts';
import { CHANGED_COLUMN, contentColumns, SCHEMA } from '../../format/schema.ts';
import { newDatabase } from '../staging/staging-file.ts';
import { EarlierRun } from '../staging/earlier-run.ts';
import type { EarlierSnapshot } from '../staging/earlier-snapshot.ts';
import type { GoneRecord, MergedPart } from './comparison.ts';
import { GrowingRun } from './growing-run.ts';

interface WrittenOrganization extends Pick<ManifestOrganization, 'organizationId' | 'name' | 'since'> {
  readonly runs: Record<CollectionName, RunEntry[]>;
}

/** Writes a new snapshot file, which no other process reads yet. */
export class SnapshotWriter implements Disposable {
  readonly runs = { copied: 0, written: 0 };
  /** Number of records that are new or differ from their earlier selves. */
  changed = 0;
  deletions = 0;
  readonly #producedAt: string;
  readonly #insertDeletion: Database.Statement<[string, string, string, string]>;
  readonly #database: Database.Database;
  readonly #organizations: readonly WrittenOrganization[];

  /**
   * @param organizations names by id, in the order of the ids
   * @param producedAt ISO 8601, UTC
   * @param earlier has the times with which histories began
   */
  constructor(
    path: string,
    organizations: ReadonlyMap<string, string>,
    producedAt: string,
    earlier?: EarlierSnapshot,
  ) {
    this.#producedAt = producedAt;
    this.#database = newDatabase(path);
    this.#database.exec(SCHEMA);
    this.#insertDeletion = this.#database.prepare('INSERT OR IGNORE INTO deletions VALUES (?, ?, ?, ?)');
    this.#organizations = Array.from(organizations, ([organizationId, name]) => {
      const since = earlier?.organizations.get(organizationId)?.since ?? producedAt;
      return { organizationId, name, since, runs: byCollection(() => []) };
    });
  }

  /**
   * Cuts a list into runs, and writes them and the deletions. Yields the number of records after each run.
   * @param parts by organization and in list order
   */
  *write(layout: CollectionLayout, parts: Iterable<MergedPart>): Generator<number> {
    const columns = [CHANGED_COLUMN, ...contentColumns(layout)].map(() => 'CAST(? AS TEXT)');
    const insert = this.#database.prepare(`INSERT INTO ${layout.table} VALUES (?, ?, ${columns.join(', ')})`);
    let run: GrowingRun | undefined;
    for (const part of parts) {
      if ('deletedAt' in part) {
        this.#writeDeletion(part);
        continue;
      }
      const isRun = part instanceof EarlierRun;
      if (!isRun && part.changedAt === undefined) this.changed++;
      // The records of a run are taken one by one only if they continue the run before them.
      for (const next of isRun && run?.precedes(part) === true ? part.records() : [part]) {
        if (run?.add(next) === true) continue;
        if (run !== undefined) yield this.#writeRun(insert, layout, run);
        run = new GrowingRun(layout, next, this.#producedAt);
      }
    }
    if (run !== undefined) yield this.#writeRun(insert, layout, run);
  }

  #writeDeletion({ collection, organization, id, deletedAt = this.#producedAt }: GoneRecord): void {
    const { organizationId } = this.#organizations[organization];
    this.deletions += this.#insertDeletion.run(organizationId, collection, id, deletedAt).changes;
  }

  #writeRun(insert: Database.Statement, { name }: CollectionLayout, run: GrowingRun): number {
    const { organizationId, runs } = this.#organizations[run.organization];
    const firstRow = rowCount(runs[name]);
    const { entry, changedAt, content } = run.stored();
    insert.run(organizationId, firstRow, changedAt, ...content);
    run.copied?.run.release();
    runs[name].push({ ...entry, firstRow });
    this.runs[run.copied === undefined ? 'written' : 'copied']++;
    return entry.recordCount;
  }

  /**
   * Completes and closes the file. Returns the snapshot id.
   * @param ancestors earliest first
   * @param deletions those since the first ancestor, of which new ones may be written already
   */
  finish(
    ancestors: readonly SnapshotOrigin[],
    permits: readonly Permit[] = [],
    deletions: Iterable<GoneRecord> = [],
  ): string {
    for (const deletion of deletions) this.#writeDeletion(deletion);
    const [snapshotId, producedAt] = [randomUUID(), this.#producedAt];
    const insertAncestor = this.#database.prepare('INSERT INTO ancestors VALUES (?, ?)');
    const insertOrganization = this.#database.prepare('INSERT INTO organizations VALUES (?, ?, ?, ?, ?)');
    const insertRun = this.#database.prepare(
      `INSERT INTO runs
       VALUES (:organizationId, :list, :firstRow, :recordCount, :recordBytes, :digest, :recordsSum, :changesDigest)`,
    );
    for (const one of ancestors) insertAncestor.run(one.snapshotId, one.producedAt);
    const organizations = this.#organizations.map((organization) => {
      const { organizationId, name, since, runs } = organization;
      const content = contentDigest(runs);
      const history = historyDigest(this.#database, organization);
      insertOrganization.run(organizationId, name, content, since, history);
      for (const { name: list } of COLLECTIONS) {
        for (const one of runs[list]) insertRun.run({ organizationId, list, ...one });
      }
      return { ...organization, contentDigest: content, historyDigest: history };
    });
    const declared = { snapshotId, producedAt, hasCanonicalRuns: true, permits, ancestors, organizations };
    this.#database
      .prepare('INSERT INTO snapshot VALUES (?, ?, 1, ?, ?, ?)')
      .run(snapshotId, producedAt, ...permitValues(permits), manifestDigest(declared));
    this.#database.exec('COMMIT');
    this.#database.close();
    return snapshotId;
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }
}
