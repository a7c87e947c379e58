import { AggregatorRegistry, collectDefaultMetrics, type PrometheusContentType, Registry } from 'prom-client';
import { type HistogramTotals, totalOfMetrics } from '../http/request-metrics.ts';
import { COLLECTIONS } from '../snapshot/format/layout.ts';
import { REFUSALS } from '../snapshot/format/refused-snapshot.ts';
import { type AdminDependencies, liveSnapshots } from './admin-state.ts';
import { readinessOf } from './readiness.ts';

export const METRICS_CONTENT_TYPE = Registry.PROMETHEUS_CONTENT_TYPE;

/** What prom-client tells of every process: there is one process, and so one of these. */
const OF_PROCESS = new Registry();
collectDefaultMetrics({ register: OF_PROCESS });

/** The metrics in the text form of Prometheus. */
export function metricsText(dependencies: AdminDependencies): Promise<string> {
  const ofFoyer = AggregatorRegistry.aggregate<PrometheusContentType>([
    [...requestFamilies(dependencies), ...dataFamilies(dependencies)],
  ]);
  return Registry.merge([ofFoyer, OF_PROCESS]).metrics();
}

function requestFamilies({ workers, droppedLogLines }: AdminDependencies): MetricFamily[] {
  const { requests, later, durations, delay } = totalOfMetrics(workers.requestMetrics);
  return [
    counter(
      'foyer_requests_total',
      'Requests answered.',
      requests.map(({ count, ...labels }) => ({ labels, value: count })),
    ),
    histogram(
      'foyer_request_duration_seconds',
      'Time from a request to the end of its response, by operation.',
      durations.map(({ operation, totals }) => ({ labels: { operation }, totals })),
    ),
    counter(
      'foyer_requests_rate_limited_total',
      'Requests answered with 429 because a key passed its limit.',
      later.get('rate-limit') ?? 0,
    ),
    counter(
      'foyer_requests_shed_total',
      'Requests answered with 429 because the event loop was late.',
      later.get('overload') ?? 0,
    ),
    counter(
      'foyer_requests_not_ready_total',
      'Requests answered with 429 because the data or the keys that they need were not loaded.',
      later.get('not-ready') ?? 0,
    ),
    histogram(
      'foyer_event_loop_delay_seconds',
      'How late the event loops of the threads that answer requests are, by regular samples.',
      [{ labels: {}, totals: delay }],
    ),
    gauge('foyer_threads', 'Threads that answer requests.', workers.listening),
    counter(
      'foyer_threads_replaced_total',
      'Threads that took the place of one that had ended.',
      workers.replaced,
    ),
    counter(
      'foyer_log_lines_dropped_total',
      'Log lines dropped because the reader was behind or the log could not be written.',
      droppedLogLines(),
    ),
  ];
}

function dataFamilies(dependencies: AdminDependencies): MetricFamily[] {
  const { stores, history, keys, keysComplaint, snapshotsComplaint, clock, memoryLimitBytes } = dependencies;
  const snapshots = liveSnapshots(stores, clock());
  const refusals: ReadonlyMap<string, number> = history.refusals;
  return [
    gauge(
      'foyer_ready',
      'Whether /readyz says that requests should be sent here: 1 or 0.',
      Number(readinessOf(dependencies).isReady),
    ),
    gauge('foyer_store_bytes_held', 'Memory that records and indexes hold, live or retained for walks.', [
      { labels: { state: 'live' }, value: stores.liveBytes },
      { labels: { state: 'retained' }, value: stores.retainedBytes },
    ]),
    gauge('foyer_memory_limit_bytes', 'Memory that the process may use.', memoryLimitBytes),
    gauge(
      'foyer_snapshot_rows',
      'Records of a live snapshot file, by collection.',
      snapshots.flatMap(({ file, organizations }) =>
        COLLECTIONS.map(({ name: collection }) => ({
          labels: { file, collection },
          value: organizations.reduce((sum, { image }) => sum + image[collection].count, 0),
        })),
      ),
    ),
    gauge(
      'foyer_snapshot_organizations',
      'Organizations served from a snapshot file.',
      snapshots.map(({ file, organizations }) => ({ labels: { file }, value: organizations.length })),
    ),
    gauge(
      'foyer_snapshot_age_seconds',
      'Time since a live snapshot file was produced.',
      snapshots.map(({ file, ageSeconds }) => ({ labels: { file }, value: ageSeconds })),
    ),
    counter('foyer_snapshot_loads_total', 'Loads of snapshot files that went live.', history.live),
    counter(
      'foyer_snapshot_refusals_total',
      'Loads of snapshot files that were refused, by reason.',
      Object.keys(REFUSALS).map((reason) => ({ labels: { reason }, value: refusals.get(reason) ?? 0 })),
    ),
    gauge(
      'foyer_snapshot_files_refused',
      'Files that lie refused in the snapshot folder.',
      history.refused.length,
    ),
    gauge(
      'foyer_snapshot_folder_refused',
      'Whether the snapshot folder cannot be looked at, so that no snapshot is taken up: 1 or 0.',
      Number(snapshotsComplaint() !== undefined),
    ),
    gauge('foyer_keys_valid', 'API keys that open something.', keys()?.validKeys ?? 0),
    gauge(
      'foyer_keys_file_refused',
      'Whether the keys file cannot be used, so that no change of keys is in force: 1 or 0.',
      Number(keysComplaint() !== undefined),
    ),
  ];
}

/** A value of a metric. */
export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
  /** Where it is not the metric's own, as for the buckets of a histogram. */
  readonly metricName?: string;
}

/** A metric with all its values as plain data: what prom-client's registries give as JSON, and take to write as text. */
export interface MetricFamily {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  /** How prom-client is to join several of a name. There is one only. */
  readonly aggregator: 'first';
  readonly values: readonly Sample[];
}

export function counter(name: string, help: string, values: number | readonly Sample[]): MetricFamily {
  return { name, help, type: 'counter', aggregator: 'first', values: samplesOf(values) };
}

export function gauge(name: string, help: string, values: number | readonly Sample[]): MetricFamily {
  return { name, help, type: 'gauge', aggregator: 'first', values: samplesOf(values) };
}

export function histogram(
  name: string,
  help: string,
  values: readonly { readonly labels: Sample['labels']; readonly totals: HistogramTotals }[],
): MetricFamily {
  const samples = values.flatMap(({ labels, totals }) => histogramSamples(name, labels, totals));
  return { name, help, type: 'histogram', aggregator: 'first', values: samples };
}

function samplesOf(values: number | readonly Sample[]): readonly Sample[] {
  return typeof values === 'number' ? [{ labels: {}, value: values }] : values;
}

/** In Prometheus a bucket holds what those below it hold, too. */
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
