import type { CollectionName } from '../../contract/operations.ts';
import { byCollection, COLLECTIONS, type CollectionLayout } from '../format/layout.ts';
import type { Instant } from '../../contract/timestamp.ts';
import { instantOf, type ManifestOrganization, NO_RECORDS, readDeletions } from '../format/manifest.ts';
import type { OpenSnapshot } from '../format/open-snapshot.ts';
import type { OpenFile } from '../format/snapshot-file.ts';
import { Block } from './block.ts';
import { blockRecords, BlockReader, type StoredBlock } from './block-reader.ts';
import { PairList, pairStatements } from './pair-list.ts';
import type { Uint32s } from '../../store/memory/shared-arrays.ts';

/** Reads the lists of a snapshot: those of its whole file, with the changes in their places. */
export class SnapshotReader {
  readonly #whole: BlockReader;
  readonly #changes: BlockReader | undefined;
  readonly organizations: ReadonlyMap<string, ManifestOrganization>;
  readonly #statements: Readonly<Record<CollectionName, ReturnType<typeof pairStatements>>> | undefined;
  /** One that was removed and added again since the whole file has no part of it. */
  readonly #inWhole: ReadonlyMap<string, ManifestOrganization>;
  readonly #latest: OpenFile;
  readonly #until: Instant;

  constructor(snapshot: OpenSnapshot) {
    const { whole, changes, latest, manifest } = snapshot;
    this.#latest = latest;
    this.#until = instantOf(manifest.producedAt);
    this.#whole = new BlockReader(whole.database);
    this.#changes = changes && new BlockReader(changes.database, true);
    this.#statements =
      changes && byCollection((layout) => pairStatements(whole.database, changes.database, layout));
    const byId = (organizations: readonly ManifestOrganization[]) =>
      new Map(organizations.map((one) => [one.organizationId, one]));
    this.organizations = byId(manifest.organizations);
    const wholeInstant = instantOf(whole.manifest.producedAt);
    const isContinued = ({ organizationId }: ManifestOrganization) => {
      const since = this.organizations.get(organizationId)?.since;
      return since !== undefined && instantOf(since) <= wholeInstant;
    };
    this.#inWhole = byId(whole.manifest.organizations.filter(isContinued));
  }

  /** Returns an organization as the whole file declares it. */
  inWhole(organizationId: string): ManifestOrganization | undefined {
    return this.#inWhole.get(organizationId);
  }

  /** Finds the records of a list in both files. */
  pairOf(layout: CollectionLayout, organizationId: string): PairList {
    const organization = this.organizations.get(organizationId);
    const [whole, declared] = [this.inWhole(organizationId), organization].map(
      (one) => one?.lists[layout.name] ?? NO_RECORDS,
    );
    const hasChanges = declared.rowCount > 0 || (organization?.deletionCount ?? 0) > 0;
    const statements = hasChanges ? this.#statements?.[layout.name] : undefined;
    return new PairList(organizationId, whole, declared, statements);
  }

  /**
   * Yields the records of a list, and checks the digests of both files.
   * @throws RefusedSnapshot
   */
  *readList(layout: CollectionLayout, organizationId: string): Generator<StoredBlock> {
    const pair = this.pairOf(layout, organizationId);
    const blocks = this.#whole.readList(layout, organizationId, pair.whole);
    if (pair.leaving.length + pair.changed.length === 0) yield* blocks;
    else yield* heldBack(this.#merge(layout, organizationId, pair, blocks));
  }

  /** Yields the records of a list that are in the file of changes, and checks their digest. */
  *readChanges(layout: CollectionLayout, organizationId: string): Generator<StoredBlock> {
    const list = this.organizations.get(organizationId)?.lists[layout.name] ?? NO_RECORDS;
    yield* this.#changes?.readList(layout, organizationId, list) ?? [];
  }

  /** Returns whether the file of changes has some of an organization after a time. Checks the digests of all. */
  hasChangesAfter(organizationId: string, after: Instant): boolean {
    const organization = this.organizations.get(organizationId);
    if (organization === undefined) return true;
    let hasChanges = false;
    for (const layout of COLLECTIONS)
      for (const stored of this.readChanges(layout, organizationId))
        if (new Block(layout, stored).changedAt.some((instant) => instant > after)) hasChanges = true;
    if (organization.deletionCount > 0)
      for (const { deletedAt } of readDeletions(this.#latest.database, organization, this.#until))
        if (deletedAt > after) hasChanges = true;
    return hasChanges;
  }

  /** Yields blocks of the whole file without the rows that leave, and with the changes in their places. */
  *#merge(
    layout: CollectionLayout,
    organizationId: string,
    { declared, leaving, changed }: PairList,
    blocks: Iterable<StoredBlock>,
  ): Generator<StoredBlock> {
    const changes = this.#eachChange(layout, organizationId);
    const merged = new MergedBlock(blockRecords(declared));
    let [nextLeaving, nextChanged] = [0, 0];
    const leavingRow = () => leaving[nextLeaving] ?? Infinity;
    const changedRow = () => changed[nextChanged] ?? Infinity;
    for (const stored of blocks) {
      const [first] = stored.rows;
      const end = first + stored.count;
      if (leavingRow() >= end && changedRow() >= merged.end + stored.count) {
        yield* merged.take();
        yield { ...stored, rows: merged.pass(stored.count) };
        continue;
      }
      const block = new Block(layout, stored);
      for (let row = first; row < end; yield* merged.takeFull()) {
        if (leavingRow() === row) {
          nextLeaving++;
          row++;
        } else if (changedRow() === merged.end) {
          nextChanged++;
          merged.add(1, changes.next().value);
        } else {
          const to = Math.min(end, leavingRow(), row + changedRow() - merged.end);
          merged.add(to - row, block.slice(row - first, to - first));
          row = to;
        }
      }
    }
    for (; nextChanged < changed.length; yield* merged.takeFull()) {
      nextChanged++;
      merged.add(1, changes.next().value);
    }
    yield* merged.take();
  }

  /** Yields the records of the changes one by one. */
  *#eachChange(layout: CollectionLayout, organizationId: string): Generator<StoredRecords, undefined> {
    for (const stored of this.readChanges(layout, organizationId)) {
      const block = new Block(layout, stored);
      for (let i = 0; i < block.count; i++) yield block.slice(i, i + 1);
    }
    return undefined;
  }
}

/** Holds each block back until there is another one or the end: rows that leave may follow, whose digest is checked then. */
function* heldBack(blocks: Iterable<StoredBlock>): Generator<StoredBlock> {
  let last: StoredBlock | undefined;
  for (const block of blocks) {
    if (last !== undefined) yield last;
    last = block;
  }
  if (last !== undefined) yield last;
}

type StoredRecords = Pick<StoredBlock, 'values' | 'records'>;

/** A block that is put together. */
class MergedBlock {
  /** Row behind the last record. */
  end = 0;
  readonly #maxCount: number;
  #count = 0;
  #pieces: StoredRecords[] = [];

  constructor(maxCount: number) {
    this.#maxCount = maxCount;
  }

  add(count: number, records: StoredRecords | undefined): void {
    if (records === undefined) return;
    this.#pieces.push(records);
    this.#count += count;
    this.end += count;
  }

  /** Returns the rows of records that are not put together. */
  pass(count: number): Uint32s {
    this.end += count;
    return Uint32Array.from({ length: count }, (_, i) => this.end - count + i);
  }

  *takeFull(): Generator<StoredBlock> {
    if (this.#count >= this.#maxCount) yield* this.take();
  }

  /** Yields the block so far, if there are records. */
  *take(): Generator<StoredBlock> {
    if (this.#count === 0) return;
    const [count, pieces] = [this.#count, this.#pieces];
    [this.#count, this.#pieces] = [0, []];
    const rows = Uint32Array.from({ length: count }, (_, i) => this.end - count + i);
    const [values, records] = (['values', 'records'] as const).map((part) =>
      joined(pieces.map((one) => one[part])),
    );
    yield { count, rows, values, records };
  }
}

/** Returns bytes in a buffer of their own, which another thread can take. */
function joined(parts: readonly Buffer[]): Buffer<ArrayBuffer> {
  const bytes = Buffer.from(new ArrayBuffer(parts.reduce((sum, { length }) => sum + length, 0)));
  let at = 0;
  for (const part of parts) at += part.copy(bytes, at);
  return bytes;
}
