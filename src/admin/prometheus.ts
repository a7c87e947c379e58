import { AggregatorRegistry, collectDefaultMetrics, type PrometheusContentType, Registry } from 'prom-client';
import packageJson from '../../package.json' with { type: 'json' };
import { CONNECTIONS, STREAMS, UNSENT_KB } from '../counts/open-counts.ts';
import { type HistogramTotals, sumMetrics } from '../counts/request-metrics.ts';
import { countValid } from '../keys/key-ring.ts';
import { COLLECTIONS } from '../snapshot/format/layout.ts';
import { REFUSALS } from '../snapshot/format/refused-snapshot.ts';
import { FORMAT_VERSION } from '../snapshot/format/schema.ts';
import type { FeedStatus } from '../snapshot/watch/feed-watcher.ts';
import { collectionOf } from '../store/organization-image.ts';
import {
  type AdminDependencies,
  liveSnapshots,
  reasonsNotReady,
  validKeysWithoutData,
} from './admin-state.ts';

export const METRICS_CONTENT_TYPE = Registry.PROMETHEUS_CONTENT_TYPE;

/** The default metrics of prom-client. They are process-wide, so all apps share them. */
const PROCESS_METRICS = new Registry();
collectDefaultMetrics({ register: PROCESS_METRICS });

/** A metric. `/metrics`, its table in the reference and the dashboard derive from it; alerts name it. */
export interface Metric {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly labels: readonly string[];
  readonly read: (scrape: Scrape) => readonly (readonly [labels: string | readonly string[], value: Value])[];
}

type Value = number | HistogramTotals;
type Scrape = ReturnType<typeof scrapeOf>;

function scrapeOf(dependencies: AdminDependencies) {
  const { counts, requestMetrics } = dependencies.workers;
  return { ...dependencies, counts, ...sumMetrics(requestMetrics), live: liveSnapshots(dependencies) };
}

const labelled =
  (type: Metric['type']) =>
  (help: string, labels: Metric['labels'], read: Metric['read']): Metric => ({ type, help, labels, read });
const single = (type: Metric['type']) => (help: string, read: (scrape: Scrape) => Value) =>
  labelled(type)(help, [], (scrape) => [[[], read(scrape)]]);
const [counter, gauge, histogram] = [single('counter'), single('gauge'), single('histogram')];
const ofFeeds = (help: string, read: (feed: FeedStatus) => number) =>
  labelled('gauge')(help, ['file'], ({ feeds }) => feeds.current.map((feed) => [feed.file, read(feed)]));
const [counters, gauges, histograms] = [labelled('counter'), labelled('gauge'), labelled('histogram')];

/** Those of Foyer. Without the label `file`, all their series exist from the start. */
export const METRICS: Readonly<Record<string, Metric>> = {
  foyer_build_info: gauges('1; the labels have the versions.', ['version', 'node', 'snapshot_format'], () => [
    [[packageJson.version, process.version, String(FORMAT_VERSION)], 1],
  ]),
  foyer_ready: gauge('Whether /readyz returns 200.', (all) => Number(reasonsNotReady(all).length === 0)),
  foyer_requests_total: counters('Responses sent.', ['operation', 'status', 'version'], ({ requests }) =>
    requests.map(({ operation, status, version, count }) => [[operation, status, version], count]),
  ),
  foyer_requests_refused_total: counters('Requests refused.', ['reason'], ({ refusals }) => [...refusals]),
  foyer_request_duration_seconds: histograms(
    'Time from the request to the end of its response. Streams are left out.',
    ['operation'],
    ({ durations }) => durations.map(({ operation, totals }) => [operation, totals]),
  ),
  foyer_event_loop_delay_seconds: histogram(
    'Delay of the event loops of the threads that answer requests, sampled every 50 ms.',
    ({ delay }) => delay,
  ),
  foyer_pinned_requests_total: counters(
    'Requests over links to data that is no longer live: retained, gone (400) or not loaded yet (429).',
    ['outcome'],
    ({ pins }) => [...pins],
  ),
  foyer_streams_open: gauge('Open streams (application/x-ndjson).', ({ counts }) => counts.inAll(STREAMS)),
  foyer_connections_open: gauge('Open connections of clients.', ({ counts }) => counts.inAll(CONNECTIONS)),
  foyer_connections_limit: gauge(
    'Connections that the process accepts at most.',
    ({ counts }) => counts.limit,
  ),
  foyer_connections_ended_total: counters('Connections that the server ended.', ['reason'], ({ ends }) => [
    ...ends,
  ]),
  foyer_unsent_bytes: gauge(
    'Bytes of responses that wait until clients read them.',
    ({ counts }) => counts.inAll(UNSENT_KB) * 1024,
  ),
  foyer_threads: gauge('Threads that answer requests.', ({ workers }) => workers.listening),
  foyer_threads_replaced_total: counter(
    'Threads that ended and were replaced.',
    ({ workers }) => workers.replaced,
  ),
  foyer_log_lines_dropped_total: counter(
    'Log lines dropped because the reader was behind or the output failed.',
    ({ log }) => log.droppedLines,
  ),
  foyer_store_bytes: gauges(
    'Memory of records and indexes, live or retained for walks.',
    ['state'],
    ({ stores }) => [
      ['live', stores.liveBytes],
      ['retained', stores.retainedBytes],
    ],
  ),
  foyer_retention_limit_bytes: gauge(
    'Memory that data retained for walks may hold: what is free besides live data and the next load.',
    ({ admission }) => admission.retainableBytes,
  ),
  foyer_memory_limit_bytes: gauge('Memory that the process may use.', ({ memory }) => memory.bytes),
  foyer_snapshot_rows: gauges('Records of a live snapshot.', ['file', 'collection'], ({ live }) =>
    live.flatMap(({ file, organizations }) =>
      COLLECTIONS.map(({ name }) => [
        [file, name],
        organizations.reduce((sum, { store }) => sum + collectionOf(store, name).count, 0),
      ]),
    ),
  ),
  foyer_snapshot_organizations: gauges('Organizations of a live snapshot.', ['file'], ({ live }) =>
    live.map(({ file, organizations }) => [file, organizations.length]),
  ),
  foyer_snapshot_produced_timestamp_seconds: gauges(
    'Production time of a live snapshot.',
    ['file'],
    ({ live }) => live.map(({ file, producedAt }) => [file, Date.parse(producedAt) / 1000]),
  ),
  foyer_snapshot_ahead_of_clock: gauges(
    'Whether a live snapshot was produced more than 5 minutes ahead of the clock.',
    ['file'],
    ({ live }) => live.map(({ file, warning }) => [file, Number(warning !== null)]),
  ),
  foyer_snapshot_file_missing: gauges(
    'Whether the file of a live snapshot is gone, so that a restart would be an outage.',
    ['file'],
    ({ live }) => live.map(({ file, isFilePresent }) => [file, Number(!isFilePresent)]),
  ),
  foyer_snapshot_loads_total: counter('Snapshot loads that went live.', ({ history }) => history.liveCount),
  foyer_snapshot_refusals_total: counters('Snapshot loads that were refused.', ['reason'], ({ history }) => {
    const refusals: ReadonlyMap<string, number> = history.refusals;
    return Object.keys(REFUSALS).map((reason) => [reason, refusals.get(reason) ?? 0]);
  }),
  foyer_snapshot_files_refused: gauge(
    'Refused files in the snapshot folder.',
    ({ history }) => history.refused.length,
  ),
  foyer_snapshot_next_try_timestamp_seconds: gauges(
    'Time of the next load of a refused file that is tried again.',
    ['file'],
    ({ history }) =>
      history.refused.flatMap(({ file, nextTryAt }) =>
        nextTryAt === undefined ? [] : [[file, Date.parse(nextTryAt) / 1000]],
      ),
  ),
  foyer_snapshot_folder_refused: gauge('Whether the snapshot folder cannot be read.', ({ snapshots }) =>
    Number(snapshots.complaint !== undefined),
  ),
  foyer_feed_failed: ofFeeds(
    'Whether the latest run of a feed failed, or its report cannot be read.',
    ({ failure, complaint }) => Number((failure ?? complaint) !== null),
  ),
  foyer_feed_published_timestamp_seconds: ofFeeds(
    'Time of the latest publication by a feed; before the first, of the start of its latest run.',
    ({ publishedAt, startedAt }) => Date.parse(publishedAt ?? startedAt ?? '') / 1000,
  ),
  foyer_feed_paused: ofFeeds('Whether a feed is paused.', ({ pausedAt }) => Number(pausedAt !== null)),
  foyer_feed_organizations_held_back: ofFeeds(
    'Organizations that a feed keeps in an earlier state.',
    ({ heldBackCount }) => heldBackCount,
  ),
  foyer_keys_valid: gauge('API keys that are neither revoked nor expired.', ({ keys, clock }) =>
    countValid(keys.current ?? [], clock()),
  ),
  foyer_keys_without_data: gauge(
    'Valid API keys whose organization no live snapshot holds.',
    validKeysWithoutData,
  ),
  foyer_keys_file_refused: gauge('Whether the keys file cannot be used.', ({ keys }) =>
    Number(keys.complaint !== undefined),
  ),
  foyer_keys_file_exposed: gauge(
    'Whether other users can write to the keys file or its folder.',
    ({ keys }) => Number(keys.warning !== undefined),
  ),
};

export function metricsText(dependencies: AdminDependencies): Promise<string> {
  const scrape = scrapeOf(dependencies);
  // prom-client requires an aggregator to merge metrics of one name. The names here are unique.
  const families = Object.entries(METRICS).map(([name, { help, type, labels, read }]) => ({
    ...{ name, help, type, aggregator: 'first' as const },
    values: samplesOf(labels, read(scrape)).map(({ suffix, ...sample }) => ({
      ...sample,
      metricName: name + suffix,
    })),
  }));
  const foyerMetrics = AggregatorRegistry.aggregate<PrometheusContentType>([families]);
  return Registry.merge([foyerMetrics, PROCESS_METRICS]).metrics();
}

function samplesOf(names: readonly string[], values: ReturnType<Metric['read']>) {
  return values.flatMap(([texts, value]) => {
    const labels = Object.fromEntries([texts].flat().map((text, i) => [names[i], text]));
    return typeof value === 'number' ? [{ labels, value, suffix: '' }] : histogramSamples(labels, value);
  });
}

/** Converts counts per bucket to the cumulative counts of Prometheus. */
function histogramSamples(
  labels: Readonly<Record<string, string>>,
  { bounds, counts, sum }: HistogramTotals,
) {
  let total = 0;
  const buckets = counts.map((count, i) => {
    total += count;
    const le = i < bounds.length ? String(bounds[i]) : '+Inf';
    return { suffix: '_bucket', labels: { le, ...labels }, value: total };
  });
  return [...buckets, { suffix: '_sum', labels, value: sum }, { suffix: '_count', labels, value: total }];
}
