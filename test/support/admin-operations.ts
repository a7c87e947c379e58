import { pino } from 'pino';
import type { AdminDependencies } from '../../src/admin/admin-state.ts';
import { CONNECTIONS } from '../../src/counts/open-counts.ts';
import { RequestMetrics } from '../../src/counts/request-metrics.ts';
import { LoadHistory } from '../../src/snapshot/watch/load-history.ts';
import type { FeedStatus } from '../../src/snapshot/watch/feed-watcher.ts';
import type { OrganizationImage, SnapshotImage } from '../../src/store/organization-image.ts';
import { StoreRegistry } from '../../src/store/registry/store-registry.ts';
import { fixture, PRODUCED_AT } from './api-fixture.ts';

/** Two hours after the fixture was produced. */
export const AGE_SECONDS = 7200;
export const NOW = Date.parse(PRODUCED_AT) + AGE_SECONDS * 1000;

export const MEMORY_LIMIT_BYTES = 512 * 1024 * 1024;

export const RETAINABLE_BYTES = 300 * 1024 * 1024;

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** The dependencies of the admin app, open to change by a test. */
export interface Operations extends Mutable<AdminDependencies> {
  config: Mutable<AdminDependencies['config']>;
  snapshots: Mutable<AdminDependencies['snapshots']>;
  feeds: Mutable<AdminDependencies['feeds']>;
  keys: Mutable<AdminDependencies['keys']>;
  workers: Mutable<AdminDependencies['workers']>;
  log: Mutable<AdminDependencies['log']>;
  metrics: RequestMetrics;
  errors: string[];
}

/** Returns the dependencies of a replica without snapshots and keys. */
export function emptyOperations(): Operations {
  const metrics = new RequestMetrics();
  const errors: string[] = [];
  return {
    config: {
      adminHost: '127.0.0.1',
      snapshotDir: 'snapshots',
      keysFile: 'keys.sqlite',
      snapshotRetainSeconds: 300,
      snapshotRetainUnwalkedSeconds: 0,
      snapshotRetainMaxSeconds: 3600,
      threads: 1,
      maxSnapshotAgeSeconds: undefined,
    },
    stores: new StoreRegistry(),
    admission: { retainableBytes: RETAINABLE_BYTES },
    history: new LoadHistory(),
    requestHistory: () => [],
    snapshots: { complaint: undefined, hasTriedAll: true },
    feeds: { current: [] },
    keys: { current: undefined, complaint: undefined, warning: undefined },
    workers: {
      listening: 1,
      hasListened: true,
      replaced: 0,
      isStopping: () => false,
      lastUseOf: () => undefined,
      requestMetrics: [metrics],
      counts: { inAll: (slot) => (slot === CONNECTIONS ? 3 : 0), limit: 1000 },
    },
    log: { logger: pino({}, { write: (line) => errors.push(line) }), droppedLines: 0 },
    memory: { bytes: MEMORY_LIMIT_BYTES },
    clock: () => NOW,
    metrics,
    errors,
  };
}

/** The status of a feed that publishes. */
export const FEED: FeedStatus = {
  file: 'main.sqlite',
  complaint: null,
  startedAt: PRODUCED_AT,
  endedAt: PRODUCED_AT,
  publishedAt: PRODUCED_AT,
  failedAt: null,
  failure: null,
  pausedAt: null,
  heldBackCount: 0,
  heldBack: [],
};

/** Provides the dependencies of a replica that serves the fixture as `main.sqlite` for each test of the calling suite. */
export function operationsForEach(): Operations {
  const operations = emptyOperations();
  beforeEach(async () => {
    const { image, keys } = await fixture();
    Object.assign(operations, emptyOperations());
    operations.stores.swap('main.sqlite', image);
    operations.keys.current = keys;
  });
  return operations;
}

export function snapshotOf(
  snapshotId: string,
  producedAt: string,
  ...organizations: OrganizationImage[]
): SnapshotImage {
  return { snapshotId, producedAt, organizations };
}
