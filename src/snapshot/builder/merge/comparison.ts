import type { Instant } from '../../../contract/timestamp.ts';
import type { CollectionName } from '../../../contract/operations.ts';
import type { CollectionLayout } from '../../format/layout.ts';
import { declaredCounts, type Deletion } from '../../format/manifest.ts';
import type { EarlierSnapshot } from '../staging/earlier-snapshot.ts';
import type { Staging } from '../staging/staging.ts';

/** A record of the earlier snapshot that the new one lacks or replaces. */
interface LeavingRecord {
  /** Position of its organization in the order of the ids. */
  readonly organization: number;
  readonly id: string;
  readonly isDeleted: boolean;
}

/** A deletion, with the position of its organization. */
type MergedDeletion = Deletion & { readonly organization: number };

/** Compares the ids of an earlier snapshot, a base or the previous one, with those that the build names. */
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

  constructor(staging: Staging, earlier: EarlierSnapshot) {
    this.#staging = staging;
    this.#earlier = earlier;
    this.expected = new Map(Array.from(earlier.organizations, ([id, one]) => [id, declaredCounts(one)]));
  }

  /** Returns whether the earlier records of a list stay unless the build names them, and are not staged. */
  isMerged(layout: CollectionLayout, organization: number): boolean {
    return this.#staging.isMerged(layout, organization);
  }

  /** Yields the records that are replaced or deleted, and counts them. */
  *leaving(layout: CollectionLayout): Generator<LeavingRecord> {
    for (const [organization, id] of this.#candidates(layout)) {
      const named = this.#staging.ids.get(layout.name, organization, id);
      if (named === 'base' || (named === undefined && this.isMerged(layout, organization))) continue;
      const isDeleted = named !== 'import';
      if (isDeleted) this.deleted++;
      else this.replaced++;
      if (named === 'deletion') this.requested++;
      const expected = this.expected.get(this.#staging.organizationIds[organization]);
      if (isDeleted && named !== undefined && expected !== undefined) expected[layout.name]--;
      yield { organization, id, isDeleted };
    }
  }

  /** Yields the earlier records that may leave. */
  *#candidates(layout: CollectionLayout): Generator<readonly [organization: number, id: string]> {
    const { organizationIds } = this.#staging;
    for (const [organization, id] of this.#namedInMerged(layout))
      if (this.#earlier.find(layout, organizationIds[organization], id) !== undefined)
        yield [organization, id];
    for (const [organization, organizationId] of organizationIds.entries()) {
      if (this.isMerged(layout, organization)) continue;
      for (const id of this.#earlier.ids(layout, organizationId)) yield [organization, id];
    }
  }

  /** Yields the records that the build names in lists that are merged. */
  *#namedInMerged(layout: CollectionLayout): Generator<readonly [organization: number, id: string]> {
    const { organizationIds, ids } = this.#staging;
    // Without such a list, as mostly with `--previous`, the ids of the whole import would be read for nothing.
    if (!organizationIds.some((_, organization) => this.isMerged(layout, organization))) return;
    for (const named of ids.named(layout.name, organizationIds.length))
      if (this.isMerged(layout, named[0])) yield named;
  }

  /** Yields the earlier deletions after a time, except those of records that the import has. */
  *deletionsSince(after: Instant): Generator<MergedDeletion> {
    const { ids, organizationIds } = this.#staging;
    for (const [organization, organizationId] of organizationIds.entries()) {
      for (const deletion of this.#earlier.deletions(organizationId)) {
        if (deletion.deletedAt <= after) continue;
        if (ids.get(deletion.collection, organization, deletion.id) === 'import') continue;
        yield { organization, ...deletion };
      }
    }
  }
}
