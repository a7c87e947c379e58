import { pino } from 'pino';
import type { AdminDependencies } from '../../src/admin/admin-state.ts';
import { RequestMetrics } from '../../src/http/request-metrics.ts';
import { LoadHistory } from '../../src/snapshot/watch/load-history.ts';
import type { OrganizationImage, SnapshotImage } from '../../src/store/organization-image.ts';
import { StoreRegistry } from '../../src/store/registry/store-registry.ts';
import { fixture, PRODUCED_AT } from '../api/fixture.ts';

/** Two hours after the fixture was produced. */
export const AGE_SECONDS = 7200;
export const NOW = Date.parse(PRODUCED_AT) + AGE_SECONDS * 1000;

export const MEMORY_LIMIT_BYTES = 512 * 1024 * 1024;

/** What the app for operators is given, to be changed by a test. */
export type Operations = { -readonly [K in keyof AdminDependencies]: AdminDependencies[K] } & {
  metrics: RequestMetrics;
  errors: string[];
};

/** A replica that has loaded nothing yet. */
export function emptyOperations(): Operations {
  const metrics = new RequestMetrics();
  const errors: string[] = [];
  return {
    stores: new StoreRegistry(),
    history: new LoadHistory(),
    snapshotDir: 'snapshots',
    snapshotsComplaint: () => undefined,
    keys: () => undefined,
    keysFile: 'keys.sqlite',
    keysComplaint: () => undefined,
    workers: { count: 1, listening: 1, hasListened: true, replaced: 0, requestMetrics: [metrics] },
    clock: () => NOW,
    isStopping: () => false,
    maxSnapshotAgeSeconds: undefined,
    memoryLimitBytes: MEMORY_LIMIT_BYTES,
    retainSeconds: 300,
    droppedLogLines: () => 0,
    log: pino({}, { write: (line) => errors.push(line) }),
    metrics,
    errors,
  };
}

/** A replica that serves the fixture as `main.sqlite`, and has its keys. */
export async function readyOperations(): Promise<Operations> {
  const operations = emptyOperations();
  const { image, keys } = await fixture();
  operations.stores.swap('main.sqlite', image);
  operations.keys = () => keys;
  return operations;
}

export function snapshotOf(
  snapshotId: string,
  producedAt: string,
  ...organizations: OrganizationImage[]
): SnapshotImage {
  return { snapshotId, producedAt, organizations };
}
