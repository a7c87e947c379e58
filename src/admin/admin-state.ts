import type { Logger } from 'pino';
import type { RequestMetrics } from '../http/request-metrics.ts';
import type { KeyRing } from '../keys/key-ring.ts';
import type { LoadHistory } from '../snapshot/watch/load-history.ts';
import type { OrganizationStore } from '../store/organization-store.ts';
import type { StoreRegistry } from '../store/registry/store-registry.ts';

/** The threads that answer requests. */
export interface WorkerCounts {
  /** How many there are to be. */
  readonly count: number;
  /** How many answer at the moment. */
  readonly listening: number;
  /** Whether there was a time when all of them did. */
  readonly hasListened: boolean;
  /** How many took the place of one that had ended. */
  readonly replaced: number;
  /** One of each; what a thread counted stays when it ends. */
  readonly requestMetrics: readonly RequestMetrics[];
}

/** What operators are told of. */
export interface AdminDependencies {
  readonly stores: StoreRegistry;
  readonly history: LoadHistory;
  readonly snapshotDir: string;
  /** What keeps the process from looking at the snapshot folder, when something does. */
  readonly snapshotsComplaint: () => string | undefined;
  /** Undefined until there is a keys file. */
  readonly keys: () => KeyRing | undefined;
  readonly keysFile: string;
  /** What is wrong with the keys file, when the keys are not those in it. */
  readonly keysComplaint: () => string | undefined;
  readonly workers: WorkerCounts;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  readonly isStopping: () => boolean;
  /** Undefined for no limit. */
  readonly maxSnapshotAgeSeconds: number | undefined;
  readonly memoryLimitBytes: number;
  readonly retainSeconds: number;
  /** Lines that the log had no room for. */
  readonly droppedLogLines: () => number;
  readonly log: Logger;
}

/** A snapshot file whose organizations are served. */
export interface LiveSnapshot {
  readonly file: string;
  /** Whether it is there still; what it held is served either way. */
  readonly isFilePresent: boolean;
  readonly snapshotId: string;
  readonly producedAt: string;
  /** Since it was produced; 0 when that is in the future. */
  readonly ageSeconds: number;
  readonly organizations: readonly OrganizationStore[];
}

/** What is live, by file name, as of `now` in milliseconds since the epoch. */
export function liveSnapshots({ live }: StoreRegistry, now: number): LiveSnapshot[] {
  const byFile = Map.groupBy(live.values(), ({ file }) => file);
  return [...byFile]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([file, organizations]) => {
      // The organizations of a file come and go together, so they are of one snapshot.
      const [{ isFilePresent, store }] = organizations;
      const { snapshotId, producedAt } = store;
      return {
        file,
        isFilePresent,
        snapshotId,
        producedAt,
        ageSeconds: Math.max(0, now - Date.parse(producedAt)) / 1000,
        organizations: organizations.map((organization) => organization.store),
      };
    });
}
