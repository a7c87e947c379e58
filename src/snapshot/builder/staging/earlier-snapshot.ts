import type Database from 'better-sqlite3';
import type { CollectionName } from '../../../contract/operations.ts';
import type { Instant } from '../../../contract/timestamp.ts';
import type { SnapshotOrigin } from '../../../store/organization-image.ts';
import { hasRow } from '../../../store/index/row-sets.ts';
import type { Row } from '../../../store/memory/shared-arrays.ts';
import { byCollection, type CollectionLayout, EVENTS } from '../../format/layout.ts';
import { placeOf } from '../../format/list-order.ts';
import {
  type Deletion,
  instantOf,
  type Manifest,
  type ManifestOrganization,
  readDeletions,
  recordsIn,
} from '../../format/manifest.ts';
import { type OpenSnapshot, openSnapshot } from '../../format/open-snapshot.ts';
import { RefusedSnapshot } from '../../format/refused-snapshot.ts';
import { MAX_ANCESTORS } from '../../format/schema.ts';
import { asRefusal, type OpenFile } from '../../format/snapshot-file.ts';
import { Block, duplicateId } from '../../load/block.ts';
import type { PairList } from '../../load/pair-list.ts';
import { SnapshotReader } from '../../load/snapshot-reader.ts';
import type { StagedRecord } from './staging-file.ts';
import { LINKED, type Staging, withoutSummary } from './staging.ts';

/** Time for which changes are known. */
export const KEEP_CHANGES_DAYS = 90;

/** What a build has to do with the snapshot that it follows. */
interface FollowingBuild {
  readonly producedAt: Date;
  /** Path of the snapshot if the import changes it. */
  readonly base?: string | undefined;
  /** Time for which changes are kept, in milliseconds; `KEEP_CHANGES_DAYS` by default. */
  readonly keepChangesMs?: number | undefined;
}

/** Some records of an organization, by its position in the order of the ids. */
type EarlierBlock = readonly [organization: number, block: Block];

type Stored = readonly [
  row: bigint,
  changedAt: Instant,
  json: string,
  ...values: StagedRecord['values'][number][],
];

/** A record as it is stored. */
export interface EarlierRecord extends Pick<StagedRecord, 'id' | 'values' | 'json'> {
  /** Whether it is in the file of changes. */
  readonly isChanged: boolean;
  /** Row in the table of its file. */
  readonly row: Row;
  readonly changedAt: Instant;
}

/** Looks up records of a collection in one file. */
function lookUp({ database }: OpenFile, { name, idColumn, columns }: CollectionLayout) {
  const values = ['row', 'changed_at', 'record', ...columns.map(({ column }) => column)].join(', ');
  const isId = `organization_id = ? AND ${idColumn} = ?`;
  return {
    byId: database
      .prepare<[string, string], Stored>(`SELECT ${values} FROM ${name} WHERE ${isId}`)
      .raw()
      .safeIntegers(),
    row: database.prepare<[string, string], Row>(`SELECT row FROM ${name} WHERE ${isId}`).pluck(),
    record: database.prepare<[Row], string>(`SELECT record FROM ${name} WHERE row = ?`).pluck(),
    ids: database
      .prepare<[Row, Row, number], [Row, string]>(
        `SELECT row, ${idColumn} FROM ${name} WHERE row >= ? AND row < ? ORDER BY row LIMIT ?`,
      )
      .raw(),
  };
}

/**
 * A snapshot that a command reads, such as that which a build follows: its base, or the one before a full build.
 * All methods throw `RefusedSnapshot` when the file is not sound.
 */
export class EarlierSnapshot implements Disposable {
  readonly path: string;
  readonly isBase: boolean;
  /** In milliseconds since the epoch. */
  readonly producedAt: number;
  readonly organizations: ReadonlyMap<string, ManifestOrganization>;
  /** The snapshots from which the next one descends, earliest first. */
  readonly ancestorsOfNext: readonly SnapshotOrigin[];
  readonly snapshot: OpenSnapshot;
  readonly #reader: SnapshotReader;
  readonly #until: Instant;
  readonly #whole: Readonly<Record<CollectionName, ReturnType<typeof lookUp>>>;
  readonly #changes: Readonly<Record<CollectionName, ReturnType<typeof lookUp>>> | undefined;
  readonly #isDeleted: Database.Statement<[string, string, string]>;

  /** @param build that follows, if any; the snapshot must be older */
  constructor(path: string, build?: FollowingBuild) {
    this.path = path;
    this.isBase = build?.base !== undefined;
    this.snapshot = openSnapshot(path);
    const { whole, changes, latest, manifest } = this.snapshot;
    this.producedAt = Date.parse(manifest.producedAt);
    const next = build?.producedAt ?? new Date(Infinity);
    if (next.getTime() <= this.producedAt) {
      this.snapshot[Symbol.dispose]();
      const message = `its time, ${manifest.producedAt}, is not before ${next.toISOString()}: check --as-of and the clock of this machine`;
      throw new RefusedSnapshot('older', message);
    }
    const keptMs = build?.keepChangesMs ?? KEEP_CHANGES_DAYS * 86_400_000;
    this.ancestorsOfNext = [...manifest.ancestors, manifest]
      .filter((one) => Date.parse(one.producedAt) >= next.getTime() - keptMs)
      .slice(-MAX_ANCESTORS);
    this.#reader = new SnapshotReader(this.snapshot);
    this.organizations = this.#reader.organizations;
    this.#until = instantOf(manifest.producedAt);
    this.#whole = byCollection((layout) => lookUp(whole, layout));
    this.#changes = changes && byCollection((layout) => lookUp(changes, layout));
    this.#isDeleted = latest.database.prepare(
      'SELECT 1 FROM deletions WHERE organization_id = ? AND collection = ? AND id = ?',
    );
  }

  get manifest(): Manifest {
    return this.snapshot.manifest;
  }

  /**
   * Yields the records of a collection, and checks the digests.
   * @param organizationIds in the order of the positions
   * @param isRead chooses organizations
   */
  *blocks(
    layout: CollectionLayout,
    organizationIds: readonly string[],
    isRead: (organization: number) => boolean = () => true,
  ): Generator<EarlierBlock> {
    try {
      for (const [organization, organizationId] of organizationIds.entries())
        if (isRead(organization))
          for (const block of this.#reader.readList(layout, organizationId))
            yield [organization, new Block(layout, block)];
    } catch (error) {
      throw asRefusal(error);
    }
  }

  /** Finds the records of a list in both files. */
  pairOf(layout: CollectionLayout, organizationId: string): PairList {
    return this.#reader.pairOf(layout, organizationId);
  }

  /** Yields the ids of a collection. */
  *ids(layout: CollectionLayout, organizationId: string): Generator<string> {
    const { name } = layout;
    const { whole, declared, leaving } = this.pairOf(layout, organizationId);
    const { firstRow, recordCount } = whole;
    for (const [row, id] of this.#whole[name].ids.iterate(firstRow, firstRow + recordCount, recordCount))
      if (!hasRow(leaving, row - firstRow)) yield id;
    const { rowCount } = declared;
    const range = [declared.firstRow, declared.firstRow + declared.recordCount, rowCount] as const;
    for (const [, id] of this.#changes?.[name].ids.iterate(...range) ?? []) yield id;
  }

  #hasDeleted(name: CollectionName, organizationId: string, id: string): boolean {
    return this.#isDeleted.get(organizationId, name, id) !== undefined;
  }

  /** Finds a record by its id. */
  find({ name }: CollectionLayout, organizationId: string, id: string): EarlierRecord | undefined {
    if (!this.organizations.has(organizationId)) return undefined;
    const changed = this.#changes?.[name].byId.get(organizationId, id);
    const isInWhole = changed === undefined && this.#reader.inWhole(organizationId) !== undefined;
    const stored = isInWhole ? this.#whole[name].byId.get(organizationId, id) : changed;
    if (stored === undefined) return undefined;
    if (isInWhole && this.#changes !== undefined && this.#hasDeleted(name, organizationId, id))
      return undefined;
    const [row, changedAt, json, ...values] = stored;
    return { id, row: Number(row), changedAt, json, values, isChanged: !isInWhole };
  }

  /** Returns the row of the whole file with an id, also of a record that has changed since. */
  rowInWhole({ name }: CollectionLayout, organizationId: string, id: string): Row | undefined {
    if (this.#reader.inWhole(organizationId) === undefined) return undefined;
    return this.#whole[name].row.get(organizationId, id);
  }

  /** Returns the record at a row of a list, from 0. */
  recordAt({ name }: CollectionLayout, pair: PairList, row: Row): string {
    const isChanged = pair.isChanged(row);
    const record = isChanged
      ? this.#changes?.[name].record.get(pair.declared.firstRow + row)
      : this.#whole[name].record.get(pair.whole.firstRow + pair.wholeRowOf(row));
    return record ?? '';
  }

  *deletions(organizationId: string): Generator<Deletion> {
    const organization = this.organizations.get(organizationId);
    const { database } = this.snapshot.latest;
    if (organization !== undefined && organization.deletionCount > 0)
      yield* readDeletions(database, organization, this.#until);
  }

  /**
   * Stages the events or sessions that stay unless the import names them, once the ids of its lines are known. The
   * records of other collections stay by their lists.
   */
  stage(layout: CollectionLayout, staging: Staging): void {
    const { ids, tables, organizationIds, staying } = staging;
    if (!LINKED.includes(layout) || !staying.includes(true)) return;
    const isStaged = (organization: number) =>
      staying[organization] && !staging.isMerged(layout, organization);
    let line = 0;
    for (const [organization, block] of this.blocks(layout, organizationIds, isStaged)) {
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

  get count(): number {
    return recordsIn(this.manifest);
  }

  [Symbol.dispose](): void {
    this.snapshot[Symbol.dispose]();
  }
}
