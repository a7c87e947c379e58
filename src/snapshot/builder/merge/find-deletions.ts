import { type Instant, parseTimestamp } from '../../../contract/timestamp.ts';
import { textIn } from '../../format/json-values.ts';
import { COLLECTIONS, DELETIONS } from '../../format/layout.ts';
import { FOUND_DELETIONS } from '../staging/changed-ids.ts';
import { type EarlierSnapshot, IMPORTED_ANEW } from './earlier-snapshot.ts';
import type { SnapshotWriter } from './snapshot-writer.ts';
import type { Staging } from '../staging/staging.ts';

interface DeletionOptions {
  /** Whether the records that are not staged are those of the earlier snapshot. */
  readonly isBase: boolean;
  /** In the order of the positions. */
  readonly organizationIds: readonly string[];
  /** The time of the build: ISO 8601, in UTC with `Z`. */
  readonly producedAt: string;
  /** Earlier deletions are not kept. */
  readonly since: Instant;
}

/**
 * Finds the deletions of a snapshot whose records are written. Returns the number of new ones.
 * They are those of the earlier snapshot, and the records that it has and this one lacks. An organization that only one
 * of them has contributes none.
 * @throws RefusedSnapshot
 */
export function findDeletions(
  earlier: EarlierSnapshot,
  staging: Staging,
  writer: SnapshotWriter,
  options: DeletionOptions,
): number {
  const { deletions } = staging;
  const { isBase, organizationIds, producedAt, since } = options;
  for (const [organization, organizationId] of organizationIds.entries()) {
    for (const entry of earlier.runs(DELETIONS, organizationId)) {
      for (const deletion of earlier.records(DELETIONS, organizationId, entry)) {
        const deletedAt = textIn(deletion['deletedAt']);
        const instant = parseTimestamp(deletedAt);
        if (instant === undefined || instant < since) continue;
        deletions.add({
          organization,
          collection: textIn(deletion['collection']),
          id: textIn(deletion['id']),
          deletedAt,
        });
      }
    }
    for (const layout of COLLECTIONS) {
      // The merge finds the other deletions.
      if (isBase && !IMPORTED_ANEW.includes(layout)) continue;
      // Runs with the same digest have the same records.
      const written = new Set(writer.runsOf(layout, organization).map(({ digest }) => digest));
      for (const entry of earlier.runs(layout, organizationId)) {
        if (written.has(entry.digest)) continue;
        for (const record of earlier.records(layout, organizationId, entry)) {
          const id = textIn(record[layout.resource.id]);
          deletions.add({ organization, collection: layout.name, id, deletedAt: producedAt });
        }
      }
    }
  }
  if (isBase) deletions.addSelected(FOUND_DELETIONS, producedAt);
  staging.removeStagedDeletions();
  return deletions.countAt(producedAt);
}
