import packageJson from '../../package.json' with { type: 'json' };
import { monotonicNow } from '../clock.ts';
import { CONNECTIONS } from '../counts/open-counts.ts';
import { byCollection } from '../snapshot/format/layout.ts';
import { REFUSALS } from '../snapshot/format/refused-snapshot.ts';
import { bytesOf, lastUseOf } from '../store/organization-image.ts';
import { endOfRetention, latestUsedFirst, type RetainedSection } from '../store/registry/store-registry.ts';
import {
  type AdminDependencies,
  type LiveSnapshot,
  liveSnapshots,
  validKeysWithoutData,
} from './admin-state.ts';
import { reasonsNotReady } from './readiness.ts';
import { keyStatus, organizationStatus } from './status-lists.ts';

/** Returns the status of the process. It contains no secret and no content of a record. */
export function statusOf(dependencies: AdminDependencies) {
  const { config, stores, keys } = dependencies;
  const now = monotonicNow();
  const summary = summaryOf(dependencies);
  return {
    ...summary,
    keys: { ...summary.keys, list: keys.current?.rows.map((row) => keyStatus(row, dependencies)) ?? [] },
    snapshots: liveSnapshots(dependencies).map((snapshot) => ({
      ...snapshotSummary(snapshot),
      organizations: snapshot.organizations.map(organizationStatus),
    })),
    /** When memory is short, one that does not fit at all is released, and then the first ones. */
    retained: latestUsedFirst(stores.retained, now)
      .reverse()
      .map((one) => ({
        file: one.file,
        snapshotId: one.snapshotId,
        organizationId: one.organizationId,
        list: one.image.name,
        bytesHeld: one.image.bytesHeld,
        ...retentionOf(one, config, now),
      })),
  };
}

/** Returns the status without the lists that grow with the number of organizations: their lengths or totals instead. */
export function summaryOf(dependencies: AdminDependencies) {
  const { config, stores, history, keys, snapshots, workers, log, clock } = dependencies;
  const reasons = reasonsNotReady(dependencies);
  const { retainedBytes } = stores;
  return {
    version: packageJson.version,
    startedAt: new Date(performance.timeOrigin).toISOString(),
    uptimeSeconds: seconds(performance.now()),
    ready: reasons.length === 0,
    reasons,
    snapshotFolder: { path: config.snapshotDir, complaint: snapshots.complaint ?? null },
    maxSnapshotAgeSeconds: config.maxSnapshotAgeSeconds ?? null,
    threads: { count: config.threads, listening: workers.listening, replaced: workers.replaced },
    connections: { open: workers.counts.inAll(CONNECTIONS), limit: workers.counts.limit },
    log: { droppedLines: log.droppedLines },
    keys: {
      file: config.keysFile,
      valid: keys.current?.countValid(clock()) ?? 0,
      validWithoutData: validKeysWithoutData(dependencies),
      complaint: keys.complaint ?? null,
      warning: keys.warning ?? null,
    },
    memory: {
      limitBytes: dependencies.memoryLimitBytes,
      heldBytes: stores.liveBytes + retainedBytes,
      retainedBytes,
      /** Bytes that retained data may hold. */
      retainableBytes: dependencies.admission.retainableBytes,
      residentBytes: process.memoryUsage.rss(),
    },
    snapshots: liveSnapshots(dependencies).map(snapshotSummary),
    retainedSnapshots: retainedSnapshots(dependencies),
    refused: history.refused.map(({ file, startedAt, reason, detail, nextTryAt }) => ({
      file,
      refusedAt: startedAt,
      reason,
      detail,
      advice: REFUSALS[reason],
      /** Null when the file is tried again only after a change, of itself or of other live data. */
      nextTryAt: nextTryAt ?? null,
    })),
    loading: history.loading ?? null,
    loads: history.latest,
  };
}

function snapshotSummary({ organizations, ...snapshot }: LiveSnapshot) {
  const described = organizations.map(organizationStatus);
  const sum = (numberOf: (one: (typeof described)[number]) => number) =>
    described.reduce((total, one) => total + numberOf(one), 0);
  return {
    ...snapshot,
    organizationCount: organizations.length,
    records: byCollection(({ name }) => sum(({ records }) => records[name])),
    bytesHeld: sum(({ bytesHeld }) => bytesHeld),
  };
}

/** Returns the replaced snapshots that walks still use, latest replaced first. */
function retainedSnapshots({ stores, config }: AdminDependencies) {
  const now = monotonicNow();
  const bySnapshot = Map.groupBy(stores.retained, ({ file, snapshotId }) =>
    JSON.stringify([file, snapshotId]),
  );
  return Array.from(bySnapshot.values(), (retained) => {
    const [{ file, snapshotId }] = retained;
    const times = retained.map((one) => retentionOf(one, config, now));
    return {
      file,
      snapshotId,
      organizationCount: new Set(retained.map((one) => one.organizationId)).size,
      bytesHeld: bytesOf(retained.map(({ image }) => image)),
      replacedSecondsAgo: times[0].replacedSecondsAgo,
      lastUsedSecondsAgo: times.reduce((least, one) => Math.min(least, one.lastUsedSecondsAgo), Infinity),
      goneInSeconds: times.reduce((most, one) => Math.max(most, one.goneInSeconds), 0),
    };
  }).sort((a, b) => a.replacedSecondsAgo - b.replacedSecondsAgo);
}

function retentionOf(one: RetainedSection, config: AdminDependencies['config'], now: number) {
  return {
    replacedSecondsAgo: seconds(now - one.replacedAt),
    lastUsedSecondsAgo: seconds(Math.max(0, now - lastUseOf(one.image, now))),
    // A further use extends it, and the admission releases it earlier when memory is short.
    goneInSeconds: seconds(Math.max(0, endOfRetention(one, config, now) - now)),
  };
}

/** Converts milliseconds to seconds, with three decimals. */
function seconds(milliseconds: number): number {
  return Math.round(milliseconds) / 1000;
}
