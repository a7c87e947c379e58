import { readFileSync } from 'node:fs';
import { COLLECTIONS } from '../snapshot/format/layout.ts';
import { REFUSALS } from '../snapshot/format/refused-snapshot.ts';
import type { OrganizationStore } from '../store/organization-store.ts';
import { type AdminDependencies, liveSnapshots } from './admin-state.ts';
import { readinessOf } from './readiness.ts';

const PACKAGE = new URL('../../package.json', import.meta.url);
const { version: PRODUCT_VERSION } = JSON.parse(readFileSync(PACKAGE, 'utf8')) as { version: string };

/** When the process started, by the wall clock and by the one that only goes forward, in milliseconds. */
export interface Start {
  readonly at: number;
  readonly monotonic: number;
}

/** All that an operator may ask of a process, as JSON. It has no key, and nothing of a record. */
export function statusOf(dependencies: AdminDependencies, start: Start) {
  const { stores, history, keys, keysFile, keysComplaint, clock, memoryLimitBytes } = dependencies;
  const { snapshotDir, snapshotsComplaint, workers } = dependencies;
  const now = performance.now();
  const { isReady, reasons } = readinessOf(dependencies);
  const bytesRetained = stores.retainedBytes;
  return {
    version: PRODUCT_VERSION,
    startedAt: new Date(start.at).toISOString(),
    uptimeSeconds: seconds(now - start.monotonic),
    ready: isReady,
    reasons,
    snapshotFolder: { path: snapshotDir, complaint: snapshotsComplaint() ?? null },
    threads: {
      count: workers.count,
      listening: workers.listening,
      replaced: workers.replaced,
    },
    keys: { file: keysFile, valid: keys()?.validKeys ?? 0, complaint: keysComplaint() ?? null },
    memory: {
      limitBytes: memoryLimitBytes,
      heldBytes: stores.liveBytes + bytesRetained,
      retainedBytes: bytesRetained,
      residentBytes: process.memoryUsage.rss(),
    },
    snapshots: liveSnapshots(stores, clock()).map(({ organizations, ...snapshot }) => ({
      ...snapshot,
      organizations: organizations.map(organizationStatus),
    })),
    retained: stores.retained.map(({ store, file, replacedAt }) => ({
      file,
      snapshotId: store.snapshotId,
      organizationId: store.organizationId,
      bytesHeld: store.bytesHeld,
      replacedSecondsAgo: seconds(now - replacedAt),
      // At the latest: it goes earlier when memory is short.
      goneInSeconds: seconds(Math.max(0, replacedAt + dependencies.retainSeconds * 1000 - now)),
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

function organizationStatus({ organizationId, image, bytesHeld }: OrganizationStore) {
  return {
    organizationId,
    records: Object.fromEntries(COLLECTIONS.map(({ name }) => [name, image[name].count])),
    bytesHeld,
  };
}

/** Milliseconds to seconds, of three digits after the point. */
function seconds(milliseconds: number): number {
  return Math.round(milliseconds) / 1000;
}
