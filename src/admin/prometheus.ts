import { AggregatorRegistry, collectDefaultMetrics, type PrometheusContentType, Registry } from 'prom-client';
import { CONNECTIONS, STREAMS, UNSENT_KB } from '../counts/open-counts.ts';
import { type HistogramTotals, type RetryReason, sumMetrics } from '../counts/request-metrics.ts';
import { COLLECTIONS } from '../snapshot/format/layout.ts';
import { REFUSALS } from '../snapshot/format/refused-snapshot.ts';
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

export function metricsText(dependencies: AdminDependencies): Promise<string> {
  const metrics = Object.entries({ ...requestMetrics(dependencies), ...snapshotMetrics(dependencies) });
  const foyerMetrics = AggregatorRegistry.aggregate<PrometheusContentType>([metrics.map(jsonOf)]);
  return Registry.merge([foyerMetrics, PROCESS_METRICS]).metrics();
}

/** The counter and the cause of each reason to answer a request with 429. */
const RETRIES: Readonly<Record<RetryReason, readonly [name: string, cause: string]>> = {
  'rate-limit': ['foyer_requests_rate_limited_total', 'the key exceeded its rate limit'],
  overload: ['foyer_requests_shed_total', 'of overload'],
  'not-ready': ['foyer_requests_not_ready_total', 'their data or the keys were not loaded'],
  refusals: [
    'foyer_requests_over_refusal_budget_total',
    'their address had spent its budget of refusals without a valid key',
  ],
  streams: ['foyer_requests_over_stream_limit_total', 'the key already had two open streams'],
};

function requestMetrics({ workers, log }: AdminDependencies): Metrics {
  const { requests, retries, durations, delay, ends, pins } = sumMetrics(workers.requestMetrics);
  return {
    foyer_requests_total: counter(
      'Responses sent.',
      requests.map(({ count, ...labels }) => ({ labels, value: count })),
    ),
    foyer_request_duration_seconds: histogram(
      'Time from the request to the end of its response, by operation. Streams are left out.',
      durations.map(({ operation, totals }) => ({ labels: { operation }, totals })),
    ),
    ...Object.fromEntries(
      Array.from(retries, ([reason, count]) => {
        const [name, cause] = RETRIES[reason];
        return [name, counter(`Requests refused with 429 because ${cause}.`, count)];
      }),
    ),
    foyer_pinned_requests_total: counter(
      'Requests over links to data that is no longer live: retained, gone (400) or not loaded yet (429).',
      Array.from(pins, ([outcome, value]) => ({ labels: { outcome }, value })),
    ),
    foyer_streams_open: gauge('Open streams (application/x-ndjson).', workers.counts.inAll(STREAMS)),
    foyer_connections_open: gauge('Open connections of clients.', workers.counts.inAll(CONNECTIONS)),
    foyer_connections_limit: gauge(
      'Connections that the process accepts: MAX_CONNECTIONS, or fewer when it may open fewer files.',
      workers.counts.limit,
    ),
    foyer_connections_ended_total: counter(
      'Connections that the server ended, by reason.',
      Array.from(ends, ([reason, value]) => ({ labels: { reason }, value })),
    ),
    foyer_unsent_bytes: gauge(
      'Bytes of responses that wait until clients read them.',
      workers.counts.inAll(UNSENT_KB) * 1024,
    ),
    foyer_event_loop_delay_seconds: histogram(
      'Delay of the event loops of the threads that answer requests, sampled every 50 to 100 ms.',
      [{ labels: {}, totals: delay }],
    ),
    foyer_threads: gauge('Threads that answer requests.', workers.listening),
    foyer_threads_replaced_total: counter('Threads that ended and were replaced.', workers.replaced),
    foyer_log_lines_dropped_total: counter(
      'Log lines dropped because the reader was behind or the output failed.',
      log.droppedLines,
    ),
  };
}

function snapshotMetrics(dependencies: AdminDependencies): Metrics {
  const { stores, history, keys, clock } = dependencies;
  const snapshots = liveSnapshots(dependencies);
  const refusals: ReadonlyMap<string, number> = history.refusals;
  return {
    foyer_ready: gauge('Whether /readyz returns 200.', Number(reasonsNotReady(dependencies).length === 0)),
    foyer_store_bytes_held: gauge('Memory of records and indexes, live or retained for walks.', [
      { labels: { state: 'live' }, value: stores.liveBytes },
      { labels: { state: 'retained' }, value: stores.retainedBytes },
    ]),
    foyer_retention_limit_bytes: gauge(
      'Memory that data retained for walks may hold: what is free besides live data and the next load.',
      dependencies.admission.retainableBytes,
    ),
    foyer_memory_limit_bytes: gauge('Memory that the process may use.', dependencies.memory.bytes),
    foyer_snapshot_rows: gauge(
      'Records of a live snapshot file, by collection.',
      snapshots.flatMap(({ file, organizations }) =>
        COLLECTIONS.map(({ name: collection }) => ({
          labels: { file, collection },
          value: organizations.reduce((sum, { store }) => sum + collectionOf(store, collection).count, 0),
        })),
      ),
    ),
    foyer_snapshot_organizations: gauge(
      'Organizations of a live snapshot file.',
      snapshots.map(({ file, organizations }) => ({ labels: { file }, value: organizations.length })),
    ),
    foyer_snapshot_age_seconds: gauge(
      'Time since a live snapshot file was produced.',
      snapshots.map(({ file, ageSeconds }) => ({ labels: { file }, value: ageSeconds })),
    ),
    foyer_snapshot_ahead_of_clock: gauge(
      'Whether a live snapshot file was produced more than 5 minutes ahead of the clock.',
      snapshots.map(({ file, warning }) => ({ labels: { file }, value: Number(warning !== null) })),
    ),
    foyer_snapshot_loads_total: counter('Snapshot loads that went live.', history.liveCount),
    foyer_snapshot_refusals_total: counter(
      'Snapshot loads that were refused, by reason.',
      Object.keys(REFUSALS).map((reason) => ({ labels: { reason }, value: refusals.get(reason) ?? 0 })),
    ),
    foyer_snapshot_files_refused: gauge('Refused files in the snapshot folder.', history.refused.length),
    foyer_snapshot_next_try_timestamp_seconds: gauge(
      'Time of the next load of a refused file that is tried again.',
      history.refused.flatMap(({ file, nextTryAt }) =>
        nextTryAt === undefined ? [] : [{ labels: { file }, value: Date.parse(nextTryAt) / 1000 }],
      ),
    ),
    foyer_snapshot_folder_refused: gauge(
      'Whether the snapshot folder cannot be read.',
      Number(dependencies.snapshots.complaint !== undefined),
    ),
    foyer_keys_valid: gauge(
      'API keys that are neither revoked nor expired.',
      keys.current?.countValid(clock()) ?? 0,
    ),
    foyer_keys_without_data: gauge(
      'Valid API keys whose organization no live snapshot holds.',
      validKeysWithoutData(dependencies),
    ),
    foyer_keys_file_refused: gauge(
      'Whether the keys file cannot be used, so that changes to it are not in force.',
      Number(keys.complaint !== undefined),
    ),
    foyer_keys_file_exposed: gauge(
      'Whether other users can write to the keys file or its folder.',
      Number(keys.warning !== undefined),
    ),
  };
}

type Metrics = Readonly<Record<string, Metric>>;

interface Metric {
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly values: readonly Sample[];
}

interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
  /** Follows the name of the metric, as for the buckets of a histogram. */
  readonly suffix?: string;
}

/** Converts a metric to the JSON form of prom-client's registries. */
function jsonOf([name, { values, ...metric }]: [string, Metric]) {
  const samples = values.map(({ suffix = '', ...sample }) => ({ ...sample, metricName: name + suffix }));
  // prom-client requires an aggregator to merge metrics of one name. The names here are unique.
  return { ...metric, name, aggregator: 'first', values: samples };
}

function gauge(help: string, values: number | readonly Sample[]): Metric {
  const samples = typeof values === 'number' ? [{ labels: {}, value: values }] : values;
  return { help, type: 'gauge', values: samples };
}

function counter(help: string, values: number | readonly Sample[]): Metric {
  return { ...gauge(help, values), type: 'counter' };
}

type LabelledTotals = Pick<Sample, 'labels'> & { readonly totals: HistogramTotals };

function histogram(help: string, values: readonly LabelledTotals[]): Metric {
  return { help, type: 'histogram', values: values.flatMap(histogramSamples) };
}

/** Converts counts per bucket to the cumulative counts of Prometheus. */
function histogramSamples({ labels, totals: { bounds, counts, sum } }: LabelledTotals): Sample[] {
  let total = 0;
  const buckets = counts.map((count, i) => {
    total += count;
    const le = i < bounds.length ? String(bounds[i]) : '+Inf';
    return { suffix: '_bucket', labels: { le, ...labels }, value: total };
  });
  return [...buckets, { suffix: '_sum', labels, value: sum }, { suffix: '_count', labels, value: total }];
}
