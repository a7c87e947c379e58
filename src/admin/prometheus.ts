import { AggregatorRegistry, collectDefaultMetrics, type PrometheusContentType, Registry } from 'prom-client';
import { CONNECTIONS, STREAMS, UNSENT_KB } from '../counts/open-counts.ts';
import { type HistogramTotals, sumMetrics } from '../counts/request-metrics.ts';
import { COLLECTIONS } from '../snapshot/format/layout.ts';
import { REFUSALS } from '../snapshot/format/refused-snapshot.ts';
import { type AdminDependencies, liveSnapshots, validKeysWithoutData } from './admin-state.ts';
import { reasonsNotReady } from './readiness.ts';

export const METRICS_CONTENT_TYPE = Registry.PROMETHEUS_CONTENT_TYPE;

/** The default metrics of prom-client. They are process-wide, so all apps share them. */
const PROCESS_METRICS = new Registry();
collectDefaultMetrics({ register: PROCESS_METRICS });

/** Returns all metrics in the Prometheus text format. */
export function metricsText(dependencies: AdminDependencies): Promise<string> {
  const foyerMetrics = AggregatorRegistry.aggregate<PrometheusContentType>([
    [...requestMetrics(dependencies), ...snapshotMetrics(dependencies)],
  ]);
  return Registry.merge([foyerMetrics, PROCESS_METRICS]).metrics();
}

function requestMetrics({ workers, log }: AdminDependencies): Metric[] {
  const { requests, retries, durations, delay, ends, pins } = sumMetrics(workers.requestMetrics);
  return [
    counter(
      'foyer_requests_total',
      'Responses sent.',
      requests.map(({ count, ...labels }) => ({ labels, value: count })),
    ),
    histogram(
      'foyer_request_duration_seconds',
      'Time from the request to the end of its response, by operation. Streams are left out.',
      durations.map(({ operation, totals }) => ({ labels: { operation }, totals })),
    ),
    counter(
      'foyer_requests_rate_limited_total',
      'Requests refused with 429 because the key exceeded its rate limit.',
      retries.get('rate-limit') ?? 0,
    ),
    counter(
      'foyer_requests_shed_total',
      'Requests refused with 429 because of overload.',
      retries.get('overload') ?? 0,
    ),
    counter(
      'foyer_requests_not_ready_total',
      'Requests refused with 429 because their data or the keys were not loaded.',
      retries.get('not-ready') ?? 0,
    ),
    counter(
      'foyer_requests_over_refusal_budget_total',
      'Requests without a valid key refused with 429 because their address had spent its budget of refusals.',
      retries.get('refusals') ?? 0,
    ),
    counter(
      'foyer_pinned_requests_total',
      'Requests over links to data that is no longer live: retained, gone (400) or not loaded yet (429).',
      Array.from(pins, ([outcome, value]) => ({ labels: { outcome }, value })),
    ),
    counter(
      'foyer_requests_over_stream_limit_total',
      'Requests for a stream refused with 429 because the key already had two open streams.',
      retries.get('streams') ?? 0,
    ),
    gauge('foyer_streams_open', 'Open streams (application/x-ndjson).', workers.counts.inAll(STREAMS)),
    gauge('foyer_connections_open', 'Open connections of clients.', workers.counts.inAll(CONNECTIONS)),
    gauge(
      'foyer_connections_limit',
      'Connections that the process accepts: MAX_CONNECTIONS, or fewer when it may open fewer files.',
      workers.counts.limit,
    ),
    counter(
      'foyer_connections_ended_total',
      'Connections that the server ended, by reason.',
      Array.from(ends, ([reason, value]) => ({ labels: { reason }, value })),
    ),
    gauge(
      'foyer_unsent_bytes',
      'Bytes of responses that wait until clients read them.',
      workers.counts.inAll(UNSENT_KB) * 1024,
    ),
    histogram(
      'foyer_event_loop_delay_seconds',
      'Delay of the event loops of the threads that answer requests, sampled every 50 to 100 ms.',
      [{ labels: {}, totals: delay }],
    ),
    gauge('foyer_threads', 'Threads that answer requests.', workers.listening),
    counter('foyer_threads_replaced_total', 'Threads that ended and were replaced.', workers.replaced),
    counter(
      'foyer_log_lines_dropped_total',
      'Log lines dropped because the reader was behind or the output failed.',
      log.droppedLines,
    ),
  ];
}

function snapshotMetrics(dependencies: AdminDependencies): Metric[] {
  const { stores, history, keys, clock } = dependencies;
  const snapshots = liveSnapshots(dependencies);
  const refusals: ReadonlyMap<string, number> = history.refusals;
  return [
    gauge('foyer_ready', 'Whether /readyz returns 200.', Number(reasonsNotReady(dependencies).length === 0)),
    gauge('foyer_store_bytes_held', 'Memory of records and indexes, live or retained for walks.', [
      { labels: { state: 'live' }, value: stores.liveBytes },
      { labels: { state: 'retained' }, value: stores.retainedBytes },
    ]),
    gauge('foyer_memory_limit_bytes', 'Memory that the process may use.', dependencies.memoryLimitBytes),
    gauge(
      'foyer_snapshot_rows',
      'Records of a live snapshot file, by collection.',
      snapshots.flatMap(({ file, organizations }) =>
        COLLECTIONS.map(({ name: collection }) => ({
          labels: { file, collection },
          value: organizations.reduce((sum, { store }) => sum + store.image[collection].count, 0),
        })),
      ),
    ),
    gauge(
      'foyer_snapshot_organizations',
      'Organizations of a live snapshot file.',
      snapshots.map(({ file, organizations }) => ({ labels: { file }, value: organizations.length })),
    ),
    gauge(
      'foyer_snapshot_age_seconds',
      'Time since a live snapshot file was produced.',
      snapshots.map(({ file, ageSeconds }) => ({ labels: { file }, value: ageSeconds })),
    ),
    gauge(
      'foyer_snapshot_ahead_of_clock',
      'Whether a live snapshot file was produced more than 5 minutes ahead of the clock.',
      snapshots.map(({ file, warning }) => ({ labels: { file }, value: Number(warning !== null) })),
    ),
    counter('foyer_snapshot_loads_total', 'Snapshot loads that went live.', history.liveCount),
    counter(
      'foyer_snapshot_refusals_total',
      'Snapshot loads that were refused, by reason.',
      Object.keys(REFUSALS).map((reason) => ({ labels: { reason }, value: refusals.get(reason) ?? 0 })),
    ),
    gauge('foyer_snapshot_files_refused', 'Refused files in the snapshot folder.', history.refused.length),
    gauge(
      'foyer_snapshot_next_try_timestamp_seconds',
      'Time of the next load of a refused file that is tried again.',
      history.refused.flatMap(({ file, nextTryAt }) =>
        nextTryAt === undefined ? [] : [{ labels: { file }, value: Date.parse(nextTryAt) / 1000 }],
      ),
    ),
    gauge(
      'foyer_snapshot_folder_refused',
      'Whether the snapshot folder cannot be read.',
      Number(dependencies.snapshots.complaint !== undefined),
    ),
    gauge(
      'foyer_keys_valid',
      'API keys that are neither revoked nor expired.',
      keys.current?.countValid(clock()) ?? 0,
    ),
    gauge(
      'foyer_keys_without_data',
      'Valid API keys whose organization no live snapshot holds.',
      validKeysWithoutData(dependencies),
    ),
    gauge(
      'foyer_keys_file_refused',
      'Whether the keys file cannot be used, so that changes to it are not in force.',
      Number(keys.complaint !== undefined),
    ),
    gauge(
      'foyer_keys_file_exposed',
      'Whether other users can write to the keys file or its folder.',
      Number(keys.warning !== undefined),
    ),
  ];
}

/** A metric in the JSON form of prom-client's registries. */
interface Metric {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  /** Required by prom-client to merge metrics of one name. The names here are unique. */
  readonly aggregator: 'first';
  readonly values: readonly Sample[];
}

interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
  /** Replaces the name of the metric, as for the buckets of a histogram. */
  readonly metricName?: string;
}

function counter(name: string, help: string, values: number | readonly Sample[]): Metric {
  return { name, help, type: 'counter', aggregator: 'first', values: samplesOf(values) };
}

function gauge(name: string, help: string, values: number | readonly Sample[]): Metric {
  return { name, help, type: 'gauge', aggregator: 'first', values: samplesOf(values) };
}

function samplesOf(values: number | readonly Sample[]): readonly Sample[] {
  return typeof values === 'number' ? [{ labels: {}, value: values }] : values;
}

function histogram(
  name: string,
  help: string,
  values: readonly { readonly labels: Sample['labels']; readonly totals: HistogramTotals }[],
): Metric {
  const samples = values.flatMap(({ labels, totals }) => histogramSamples(name, labels, totals));
  return { name, help, type: 'histogram', aggregator: 'first', values: samples };
}

/** Converts counts per bucket to the cumulative counts of Prometheus. */
function histogramSamples(
  name: string,
  labels: Sample['labels'],
  { bounds, counts, sum }: HistogramTotals,
): Sample[] {
  let total = 0;
  const buckets = counts.map((count, i) => {
    total += count;
    const le = i < bounds.length ? String(bounds[i]) : '+Inf';
    return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: total };
  });
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: total },
  ];
}
