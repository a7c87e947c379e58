import { statSync } from 'node:fs';
import { COLLECTIONS } from './layout.ts';
import { readManifest, segmentOf } from './manifest.ts';
import type { Permit } from './manifest.ts';
import { asRefusal, openSnapshot } from './snapshot-file.ts';

export interface Inspection {
  readonly snapshotId: string;
  readonly producedAt: string;
  readonly permits: readonly Permit[];
  readonly organizations: readonly {
    readonly organizationId: string;
    readonly name: string;
    /** Records by collection. */
    readonly counts: Readonly<Record<string, number>>;
  }[];
}

/**
 * What a snapshot says of itself. Its content is not read.
 * @throws RefusedSnapshot
 */
export function inspectSnapshot(path: string): Inspection {
  const database = openSnapshot(path);
  try {
    const { snapshotId, producedAt, permits, organizations } = readManifest(database, statSync(path).size);
    return {
      snapshotId,
      producedAt,
      permits,
      organizations: organizations.map(({ organizationId, name, segments }) => ({
        organizationId,
        name,
        counts: Object.fromEntries(
          COLLECTIONS.map((layout) => [layout.name, segmentOf(segments, layout.table).rowCount]),
        ),
      })),
    };
  } catch (error) {
    throw asRefusal(error);
  } finally {
    database.close();
  }
}
