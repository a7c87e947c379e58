import { monotonicNow } from '../clock.ts';
import { type KeyRow, stateOf } from '../keys/key-ring.ts';
import { loadedCounts } from '../snapshot/format/manifest.ts';
import { REFUSALS } from '../snapshot/format/refused-snapshot.ts';
import { DeletionsStore } from '../store/organization-store.ts';
import { endOfRetention, type LiveStore } from '../store/registry/store-registry.ts';
import { VERSION } from '../version.ts';
import { type AdminDependencies, liveSnapshots, validKeysWithoutData } from './admin-state.ts';
import { reasonsNotReady } from './readiness.ts';

/** Returns the status of the process. It contains no secret and no content of a record. */
export function statusOf(dependencies: AdminDependencies) {
  const { config, stores, history, keys, snapshots, workers, clock } = dependencies;
  const now = monotonicNow();
  const reasons = reasonsNotReady(dependencies);
  const { retainedBytes } = stores;
  return {
    version: VERSION,
    startedAt: new Date(performance.timeOrigin).toISOString(),
    uptimeSeconds: seconds(performance.now()),
    ready: reasons.length === 0,
    reasons,
    snapshotFolder: { path: config.snapshotDir, complaint: snapshots.complaint ?? null },
    threads: { count: config.threads, listening: workers.listening, replaced: workers.replaced },
    connections: { open: workers.connections.all, limit: workers.connections.limit },
    keys: {
      file: config.keysFile,
      valid: keys.current?.countValid(clock()) ?? 0,
      validWithoutData: validKeysWithoutData(dependencies),
      complaint: keys.complaint ?? null,
      warning: keys.warning ?? null,
      list: keys.current?.rows.map((row) => keyStatus(row, dependencies)) ?? [],
    },
    memory: {
      limitBytes: dependencies.memoryLimitBytes,
      heldBytes: stores.liveBytes + retainedBytes,
      retainedBytes,
      residentBytes: process.memoryUsage.rss(),
    },
    snapshots: liveSnapshots(dependencies).map(({ organizations, ...snapshot }) => ({
      ...snapshot,
      organizations: organizations.map(organizationStatus),
    })),
    retained: stores.retained.map((one) => ({
      file: one.file,
      snapshotId: one.store.snapshotId,
      organizationId: one.store.organizationId,
      holds: one.store instanceof DeletionsStore ? 'deletions' : 'content',
      bytesHeld: one.store.bytesHeld,
      replacedSecondsAgo: seconds(now - one.replacedAt),
      lastUsedSecondsAgo: seconds(Math.max(0, now - one.store.walks.lastUse)),
      // A further use extends it, and the registry drops it earlier when memory is short.
      goneInSeconds: seconds(Math.max(0, endOfRetention(one, config) - now)),
    })),
    refused: history.refused.map(({ file, startedAt, reason, detail }) => ({
      file,
      refusedAt: startedAt,
      reason,
      detail,
      advice: REFUSALS[reason],
    })),
    loading: history.loading ?? null,
    loads: history.latest,
  };
}

function organizationStatus({ store, deletions }: LiveStore) {
  return {
    organizationId: store.organizationId,
    records: loadedCounts(store.image),
    deletions: deletions.image.deletions.count,
    bytesHeld: store.bytesHeld + deletions.bytesHeld,
  };
}

/** Describes a key without its digest. */
function keyStatus(row: KeyRow, { stores, workers, clock }: AdminDependencies) {
  const { keyId, organizationId, label, expiresAt } = row;
  return {
    keyId,
    organizationId,
    label,
    state: stateOf(row, clock()),
    expiresAt,
    /** Whether a live snapshot holds the organization. If not, requests with the key get 429. */
    hasData: stores.live.has(organizationId),
    /** Start of the hour of the last request with the key, since the process started. */
    lastUsedAt: workers.lastUseOf(keyId) ?? null,
  };
}

/** Converts milliseconds to seconds, with three decimals. */
function seconds(milliseconds: number): number {
  return Math.round(milliseconds) / 1000;
}
