import type { Request } from 'express';
import packageJson from '../../package.json' with { type: 'json' };
import { monotonicNow } from '../clock.ts';
import { CONNECTIONS } from '../counts/open-counts.ts';
import { Problem } from '../http/response/problem.ts';
import { countValid, type KeyRow, stateOf } from '../keys/key-ring.ts';
import { byCollection } from '../snapshot/format/layout.ts';
import { loadedCounts } from '../snapshot/format/succession.ts';
import { REFUSALS } from '../snapshot/format/refused-snapshot.ts';
import { lastUseOf, memoryOf, sectionsOf } from '../store/organization-image.ts';
import { endOfRetention, latestUsedFirst } from '../store/registry/retention.ts';
import type { RetainedSection } from '../store/registry/store-view.ts';
import type { LiveStore } from '../store/registry/store-registry.ts';
import {
  type AdminDependencies,
  type LiveSnapshot,
  liveSnapshots,
  reasonsNotReady,
  validKeysWithoutData,
} from './admin-state.ts';

/** Returns the status of the process. It contains no secret, and of records only values that a feed refuses. */
export function statusOf(dependencies: AdminDependencies) {
  const { config, stores, keys } = dependencies;
  const now = monotonicNow();
  const summary = summaryOf(dependencies);
  return {
    ...summary,
    keys: { ...summary.keys, list: keys.current?.map((row) => keyStatus(row, dependencies)) ?? [] },
    snapshots: liveSnapshots(dependencies).map((snapshot) => ({
      ...snapshotSummary(snapshot),
      organizations: snapshot.organizations.map(organizationStatus),
    })),
    feeds: dependencies.feeds.current,
    /** When memory is short, one that does not fit at all is released, and then the first ones. */
    retained: latestUsedFirst(stores.retained, now)
      .reverse()
      .map((one) => ({
        file: one.file,
        snapshotId: one.snapshotId,
        organizationId: one.organizationId,
        list: one.image.name,
        bytesHeld: stores.bytesBesideLive([one]),
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
      valid: countValid(keys.current ?? [], clock()),
      validWithoutData: validKeysWithoutData(dependencies),
      complaint: keys.complaint ?? null,
      warning: keys.warning ?? null,
    },
    memory: {
      limitBytes: dependencies.memory.bytes,
      heldBytes: stores.liveBytes + retainedBytes,
      retainedBytes,
      retainableBytes: dependencies.admission.retainableBytes,
      residentBytes: process.memoryUsage.rss(),
    },
    snapshots: liveSnapshots(dependencies).map(snapshotSummary),
    feeds: dependencies.feeds.current.map((feed) => ({
      ...feed,
      heldBack: feed.heldBack.slice(0, PER_PAGE),
    })),
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
      bytesHeld: stores.bytesBesideLive(retained),
      replacedSecondsAgo: times[0].replacedSecondsAgo,
      lastUsedSecondsAgo: times.reduce((least, one) => Math.min(least, one.lastUsedSecondsAgo), Infinity),
      goneInSeconds: times.reduce((most, one) => Math.max(most, one.goneInSeconds), 0),
    };
  }).sort((a, b) => a.replacedSecondsAgo - b.replacedSecondsAgo);
}

function retentionOf(one: RetainedSection, config: AdminDependencies['config'], now: number) {
  return {
    replacedSecondsAgo: seconds(now - one.replacedAt),
    lastUsedSecondsAgo: seconds(Math.max(0, now - (lastUseOf(one.image, now) || one.replacedAt))),
    // A further use extends it, and the admission releases it earlier when memory is short.
    goneInSeconds: seconds(Math.max(0, endOfRetention(one, config, now) - now)),
  };
}

function seconds(milliseconds: number): number {
  return Math.round(milliseconds) / 1000;
}

/** The lists of the status that grow with the number of organizations: whole, or in pages with a search. */

const PER_PAGE = 10;

type ListQuery = ReturnType<typeof listQuery>;

/**
 * Reads the parameters of a list: a part of an id or label, in lower case, and a page.
 * @throws Problem with 400 when one is invalid
 */
export function listQuery({ search = '', page = '1' }: Request['query']) {
  if (typeof search !== 'string' || typeof page !== 'string' || !/^[1-9]\d{0,8}$/.test(page))
    throw new Problem(400, 'The parameters are search, one text, and page, a whole number from 1 on.');
  return { search: search.toLowerCase(), page: Number(page) };
}

export function organizationsPage({ stores }: AdminDependencies, query: ListQuery) {
  const found = [...stores.live.values()]
    .filter(({ store }) => matches(query, store.organizationId))
    .sort((a, b) => (a.store.organizationId < b.store.organizationId ? -1 : 1));
  return pageOfList(found, query, (live) => ({ ...organizationStatus(live), file: live.file }));
}

export function keysPage(dependencies: AdminDependencies, query: ListQuery) {
  const rows = dependencies.keys.current ?? [];
  const found = rows.filter(({ keyId, organizationId, label }) =>
    matches(query, keyId, organizationId, label),
  );
  return pageOfList(found, query, (row) => keyStatus(row, dependencies));
}

function organizationStatus({ store }: LiveStore) {
  return {
    organizationId: store.organizationId,
    records: loadedCounts(store),
    bytesHeld: memoryOf(sectionsOf(store)).bytes,
  };
}

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

function matches({ search }: ListQuery, ...texts: readonly string[]): boolean {
  return texts.some((text) => text.toLowerCase().includes(search));
}

/** Describes the items of a page only. A page beyond the last one is empty. */
function pageOfList<T, U>(found: readonly T[], { page }: ListQuery, describe: (one: T) => U) {
  const end = page * PER_PAGE;
  return {
    items: found.slice(end - PER_PAGE, end).map(describe),
    page,
    totalPages: Math.ceil(found.length / PER_PAGE),
    total: found.length,
  };
}
