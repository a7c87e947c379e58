import type Database from 'better-sqlite3';
import type { CollectionName } from '../../../contract/operations.ts';
import type { Instant } from '../../../contract/timestamp.ts';
import type { SnapshotOrigin } from '../../../store/organization-image.ts';
import { byCollection, type CollectionLayout, EVENTS } from '../../format/layout.ts';
import { placeOf } from '../../format/list-order.ts';
import {
  type Deletion,
  instantOf,
  type ManifestOrganization,
  NO_RECORDS,
  readDeletions,
  recordsIn,
} from '../../format/manifest.ts';
import { RefusedSnapshot } from '../../format/refused-snapshot.ts';
import { MAX_ANCESTORS } from '../../format/schema.ts';
import {
  asRefusal,
  DEFENCES,
  identityOf,
  type OpenSnapshot,
  openSnapshot,
} from '../../format/snapshot-file.ts';
import { Block, duplicateId } from '../../load/block.ts';
import { BlockReader } from '../../load/block-reader.ts';
import { LINKED, type Staging, withoutSummary } from './staging.ts';

/** Some records of an organization, by its position in the order of the ids. */
type EarlierBlock = readonly [organization: number, block: Block];

/**
 * A snapshot file that a command reads, such as that which a build follows: its base, or the one before a full build.
 * All methods throw `RefusedSnapshot` when the file is not sound.
 */
export class EarlierSnapshot implements Disposable {
  readonly path: string;
  readonly isBase: boolean;
  /** In milliseconds since the epoch. */
  readonly producedAt: number;
  readonly organizations: ReadonlyMap<string, ManifestOrganization>;
  readonly #identity: string | undefined;
  readonly #snapshot: OpenSnapshot;
  readonly #reader: BlockReader;
  readonly #until: Instant;
  readonly #selectId: Readonly<Record<CollectionName, Database.Statement<[string, string]>>>;

  /** @param producedAt the time of the build that follows, if any; the snapshot must be older */
  constructor(path: string, producedAt?: Date, isBase = false) {
    this.path = path;
    this.isBase = isBase;
    this.#identity = identityOf(path);
    this.#snapshot = openSnapshot(path);
    const { producedAt: earlier, organizations } = this.#snapshot.manifest;
    this.producedAt = Date.parse(earlier);
    if (producedAt !== undefined && producedAt.getTime() <= this.producedAt) {
      this.#snapshot[Symbol.dispose]();
      const time = producedAt.toISOString();
      const message = `its time, ${earlier}, is not before ${time}: check --as-of and the clock of this machine`;
      throw new RefusedSnapshot('older', message);
    }
    this.organizations = new Map(organizations.map((one) => [one.organizationId, one]));
    this.#until = instantOf(earlier);
    const { database } = this.#snapshot;
    this.#reader = new BlockReader(database);
    this.#selectId = byCollection(({ name, idColumn }) =>
      database.prepare(`SELECT 1 FROM ${name} WHERE organization_id = ? AND ${idColumn} = ?`),
    );
  }

  /**
   * Yields the records of a collection, and checks the digests.
   * @param organizationIds in the order of the positions
   */
  *blocks(layout: CollectionLayout, organizationIds: readonly string[]): Generator<EarlierBlock> {
    try {
      for (const [organization, organizationId] of organizationIds.entries()) {
        const list = this.organizations.get(organizationId)?.lists[layout.name] ?? NO_RECORDS;
        for (const block of this.#reader.readList(layout, organizationId, list))
          yield [organization, new Block(layout, block)];
      }
    } catch (error) {
      throw asRefusal(error);
    }
  }

  /** Yields the ids of a collection. */
  *ids({ name, idColumn }: CollectionLayout, organizationId: string): Generator<string> {
    const { firstRow, recordCount } = this.organizations.get(organizationId)?.lists[name] ?? NO_RECORDS;
    const select = `SELECT ${idColumn} FROM ${name} WHERE row >= ? AND row < ? ORDER BY row LIMIT ?`;
    const rows = this.#snapshot.database.prepare<[number, number, number], string>(select).pluck();
    yield* rows.iterate(firstRow, firstRow + recordCount, recordCount);
  }

  has({ name }: CollectionLayout, organizationId: string, id: string): boolean {
    return this.#selectId[name].get(organizationId, id) !== undefined;
  }

  /**
   * Attaches the file to a database as `earlier`.
   * @throws RefusedSnapshot when the file has been replaced
   */
  attachTo(database: Database.Database): void {
    const replaced = new RefusedSnapshot('unfinished', 'it was replaced while the build began: build again');
    // SQLite would create a file that is missing.
    if (identityOf(this.path) !== this.#identity) throw replaced;
    for (const [pragma, value] of DEFENCES) database.pragma(`${pragma} = ${value}`);
    database.prepare('ATTACH ? AS earlier').run(this.path);
    const { snapshotId } = this.#snapshot.manifest;
    const found = database.prepare<[], string>('SELECT snapshot_id FROM earlier.snapshot').pluck().get();
    if (found !== snapshotId) throw replaced;
  }

  *deletions(organizationId: string): Generator<Deletion> {
    const organization = this.organizations.get(organizationId);
    if (organization !== undefined) yield* readDeletions(this.#snapshot.database, organization, this.#until);
  }

  /**
   * Stages the events or sessions that stay unless the import names them, once the ids of its lines are known. The
   * records of other collections are copied.
   */
  stage(layout: CollectionLayout, { ids, tables, organizationIds, staying }: Staging): void {
    if (!LINKED.includes(layout) || !staying.includes(true)) return;
    let line = 0;
    for (const [organization, block] of this.blocks(layout, organizationIds)) {
      if (!staying[organization]) continue;
      for (let i = 0; i < block.count; i++) {
        line++;
        const stored = block.recordAt(i).toString();
        const { instant, id } = placeOf(layout, stored);
        if (!ids.addOfBase(layout.name, organization, id, line, instant)) {
          if (ids.get(layout.name, organization, id) === 'base') throw duplicateId(layout, id);
          continue;
        }
        const json = layout === EVENTS ? withoutSummary(stored) : stored;
        tables.add(layout, 'base', line, {
          organization,
          instant,
          id,
          values: block.storedValuesAt(i),
          json,
        });
      }
    }
  }

  /**
   * Returns the snapshots from which a later one descends, earliest first.
   * @param since earlier ones are left out; milliseconds since the epoch
   */
  lineage(since: number): readonly SnapshotOrigin[] {
    const { ancestors, snapshotId, producedAt } = this.#snapshot.manifest;
    return [...ancestors, { snapshotId, producedAt }]
      .filter((one) => Date.parse(one.producedAt) >= since)
      .slice(-MAX_ANCESTORS);
  }

  get count(): number {
    return recordsIn(this.#snapshot.manifest);
  }

  [Symbol.dispose](): void {
    this.#snapshot[Symbol.dispose]();
  }
}
