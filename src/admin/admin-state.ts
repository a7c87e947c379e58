import type { Config } from '../config.ts';
import { parseTimestamp } from '../contract/timestamp.ts';
import { countValid } from '../keys/key-ring.ts';
import type { KeysWatcher } from '../keys/keys-watcher.ts';
import type { ProcessLog } from '../log/process-log.ts';
import type { Admission } from '../snapshot/admission/admit.ts';
import type { MemoryLimit } from '../snapshot/admission/memory.ts';
import { aheadOfClock } from '../snapshot/format/succession.ts';
import type { FeedWatcher } from '../snapshot/watch/feed-watcher.ts';
import type { LoadHistory } from '../snapshot/watch/load-history.ts';
import type { SnapshotWatcher } from '../snapshot/watch/snapshot-watcher.ts';
import type { Retention } from '../store/registry/retention.ts';
import type { StoreRegistry } from '../store/registry/store-registry.ts';
import type { Supervisor } from '../workers/supervisor.ts';
import type { RequestHistory } from './request-history.ts';

export interface AdminDependencies {
  readonly config: Pick<
    Config,
    'adminHost' | 'snapshotDir' | 'keysFile' | 'threads' | 'maxSnapshotAgeSeconds' | keyof Retention
  >;
  readonly stores: StoreRegistry;
  readonly admission: Pick<Admission, 'retainableBytes'>;
  readonly history: LoadHistory;
  readonly requestHistory: RequestHistory;
  readonly snapshots: Readonly<Pick<SnapshotWatcher, 'complaint' | 'hasTriedAll'>>;
  readonly feeds: Readonly<Pick<FeedWatcher, 'current'>>;
  readonly keys: Readonly<Pick<KeysWatcher, 'current' | 'complaint' | 'warning'>>;
  readonly workers: Readonly<
    Pick<
      Supervisor,
      'listening' | 'hasListened' | 'replaced' | 'isStopping' | 'requestMetrics' | 'counts' | 'lastUseOf'
    >
  >;
  readonly log: Pick<ProcessLog, 'logger' | 'droppedLines'>;
  readonly memory: Pick<MemoryLimit, 'bytes'>;
  /** Returns milliseconds since the epoch. */
  readonly clock: () => number;
}

export type LiveSnapshot = ReturnType<typeof liveSnapshots>[number];

/** Returns the snapshot files that have live organizations, sorted by name. */
export function liveSnapshots({ stores, clock }: AdminDependencies) {
  const now = clock();
  const byFile = Map.groupBy(stores.live.values(), ({ file }) => file);
  return [...byFile]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([file, organizations]) => {
      // A swap replaces all organizations of a file, so all of them come from one snapshot.
      const [{ isFilePresent, store }] = organizations;
      const { snapshotId, producedAt } = store;
      return {
        file,
        /** False after the file was removed. Its organizations stay live until a restart. */
        isFilePresent,
        snapshotId,
        producedAt,
        /** Time since the snapshot was produced; 0 for a time in the future. */
        ageSeconds: Math.max(0, now - Date.parse(producedAt)) / 1000,
        /** Null unless its production time is ahead of the clock. */
        warning: aheadOfClock(producedAt, now) ?? null,
        organizations,
      };
    });
}

/** Returns the number of valid keys whose organization no live snapshot holds. Their requests get 429. */
export function validKeysWithoutData({ keys, stores, clock }: AdminDependencies): number {
  const withoutData = keys.current?.filter(({ organizationId }) => !stores.live.has(organizationId));
  return countValid(withoutData ?? [], clock());
}

/**
 * Returns the reasons why the process is not ready, each with a remedy.
 *
 * A ready process is not stopping. It has a listening worker, keys and data, has loaded or refused all snapshot files of
 * its start, and has no live snapshot above the age limit.
 * The limit holds for each snapshot file, removed ones included: no client of a ready process receives older data.
 * @param after a valid timestamp after which each live snapshot must be produced
 */
export function reasonsNotReady(dependencies: AdminDependencies, after?: string): string[] {
  const { config, stores, keys, snapshots, workers } = dependencies;
  const reasons: string[] = [];
  if (workers.isStopping()) reasons.push('The process is stopping. Send requests to another one.');
  if (!workers.hasListened) reasons.push('The threads that answer requests have not started yet.');
  else if (workers.listening === 0) reasons.push('No worker is listening. See the log.');
  if (stores.live.size === 0) reasons.push(reasonWithoutSnapshot(dependencies));
  else if (!snapshots.hasTriedAll)
    reasons.push(`Not all files of the snapshot folder ${config.snapshotDir} are loaded yet.`);
  if (keys.current === undefined) {
    reasons.push(
      keys.complaint === undefined
        ? `There is no keys file at ${config.keysFile}. Create a key, or correct KEYS_FILE.`
        : `The keys file at ${config.keysFile} cannot be used: ${keys.complaint}.`,
    );
  }
  const limit = config.maxSnapshotAgeSeconds ?? Infinity;
  const bound = after === undefined ? undefined : parseTimestamp(after);
  for (const { file, isFilePresent, producedAt, ageSeconds } of liveSnapshots(dependencies)) {
    const produced = `${file} was produced at ${producedAt}`;
    const remedy = isFilePresent
      ? 'Publish a newer snapshot.'
      : 'The file was removed, but its organizations stay live: publish a newer snapshot, or restart the process to remove them.';
    const age = `${Math.floor(ageSeconds)} s ago; MAX_SNAPSHOT_AGE_SECONDS is ${limit}`;
    if (ageSeconds > limit) reasons.push(`${produced}, ${age}. ${remedy}`);
    if (bound !== undefined && (parseTimestamp(producedAt) ?? 0n) <= bound)
      reasons.push(`${produced}, which is not after ${after}. ${remedy}`);
  }
  return reasons;
}

function reasonWithoutSnapshot({ config, history, snapshots }: AdminDependencies): string {
  const folder = config.snapshotDir;
  if (snapshots.complaint !== undefined)
    return `The snapshot folder ${folder} cannot be read: ${snapshots.complaint}.`;
  if (history.refused.length > 0)
    return 'No snapshot is live, and some were refused. See /status for the reasons.';
  if (history.loading !== undefined)
    return `No snapshot is live yet: ${history.loading.file} is being loaded.`;
  return `No snapshot is live. Publish one into the snapshot folder ${folder}, or correct SNAPSHOT_DIR.`;
}
