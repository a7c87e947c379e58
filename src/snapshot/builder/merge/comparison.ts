import { parseTimestamp } from '../../../contract/timestamp.ts';
import { textIn } from '../../format/json-values.ts';
import type { CollectionLayout } from '../../format/layout.ts';
import { LINKED, type Staging } from '../staging/staging.ts';
import type { EarlierRun } from './earlier-run.ts';
import type { EarlierSnapshot } from './earlier-snapshot.ts';

/** Compares the records of an earlier snapshot, a base or the previous one, with the new records, by id. */
export class Comparison {
  /** Number of records whose id the import has. */
  replaced = 0;
  /** Number of records that the new snapshot lacks. */
  deleted = 0;
  /** Number of those that the import deletes. */
  requested = 0;
  readonly #staging: Staging;
  readonly #isBase: boolean;
  readonly #producedAt: string;

  /** @param isBase whether a record that the import does not name stays */
  constructor(staging: Staging, isBase: boolean, producedAt: string) {
    this.#staging = staging;
    this.#isBase = isBase;
    this.#producedAt = producedAt;
  }

  /** Returns whether the records of the base are merged. Those of linked collections that stay are staged, with ids. */
  isMerged(layout: CollectionLayout): boolean {
    return this.#isBase && !LINKED.includes(layout);
  }

  /** Compares the records of a run. Returns the rows of those that do not stay. */
  compare(layout: CollectionLayout, run: EarlierRun): ReadonlySet<number> {
    const { organization, ids, count } = run;
    const { ids: staged, deletions } = this.#staging;
    const unnamed = this.isMerged(layout) ? 'base' : 'deletion';
    const leaving = new Set<number>();
    for (let row = 0; row < count; row++) {
      const named = staged.find(layout.name, organization, ids, row);
      const origin = named ?? unnamed;
      if (origin === 'base') continue;
      leaving.add(row);
      if (origin === 'import') this.replaced++;
      else {
        this.deleted++;
        if (named !== undefined) this.requested++;
        deletions.add(organization, layout.name, run.idAt(row), this.#producedAt);
      }
    }
    return leaving;
  }

  /**
   * Keeps the deletions of the earlier snapshot, but early ones and those of records that the import has.
   * @param since earlier deletions are dropped; milliseconds
   */
  keepDeletions(earlier: EarlierSnapshot, since: number): void {
    const { ids, deletions, organizationIds } = this.#staging;
    for (const [organization, organizationId] of organizationIds.entries()) {
      for (const deletion of earlier.deletions(organizationId)) {
        const collection = textIn(deletion['collection']);
        const id = textIn(deletion['id']);
        const deletedAt = textIn(deletion['deletedAt']);
        const instant = parseTimestamp(deletedAt);
        if (instant === undefined || instant < BigInt(since) * 1000n) continue;
        if (ids.get(collection, organization, id) === 'import') continue;
        deletions.add(organization, collection, id, deletedAt);
      }
    }
  }
}
