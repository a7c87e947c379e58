import { type Metric, METRICS } from '../../src/admin/prometheus.ts';

/** An alert for Prometheus, whose job `foyer` has the replicas. The rules and the runbook derive from it. */
export interface Alert {
  /** In PromQL. */
  readonly expr: string;
  /** Time for which the expression holds; by default 5 minutes. */
  readonly for?: string;
  readonly severity?: 'critical';
  /** Cause and remedy, in Markdown. The first sentence is the summary. */
  readonly runbook: string;
}

/** The names that every replica has from the start. */
const NAMES = Object.entries(METRICS)
  .filter(([, { labels }]) => !labels.includes('file'))
  .map(([name, { type }]) => (type === 'histogram' ? `${name}_bucket` : name))
  .concat('process_max_fds', 'process_open_fds', 'process_resident_memory_bytes');

export const ALERTS: Readonly<Record<string, Alert>> = {
  FoyerDown: {
    expr: 'up{job="foyer"} == 0',
    severity: 'critical',
    runbook: 'A process has ended, or its admin port does not answer. Standard error has the reason.',
  },
  FoyerMetricsAbsent: {
    expr: `absent(up{job="foyer"}) or up{job="foyer"} == 1 unless on (job, instance) count by (job, instance) (count by (job, instance, __name__) ({job="foyer", __name__=~"${NAMES.join('|')}"})) == ${NAMES.length}`,
    severity: 'critical',
    runbook:
      'Metrics are absent, so that other alerts do not fire. The job must be named `foyer` and read the admin port, and the rules must have the version of the replicas. macOS has no `process_open_fds`.',
  },
  FoyerNotReady: {
    expr: 'foyer_ready == 0',
    severity: 'critical',
    runbook: 'A replica is not ready. `/readyz` has the reasons.',
  },
  FoyerSnapshotRefused: {
    expr: 'foyer_snapshot_files_refused > 0',
    runbook:
      'A file is refused. `/status` has the [reason](operations.md#why-a-snapshot-is-refused) and the advice.',
  },
  FoyerSnapshotStale: {
    expr: 'max by (job, file) (time() - foyer_snapshot_produced_timestamp_seconds) > 3600',
    runbook: 'The data is older than promised. Check for refusals, then the feed, in a fleet also the pull.',
  },
  FoyerSnapshotAhead: {
    expr: 'foyer_snapshot_ahead_of_clock == 1',
    runbook:
      'A snapshot was produced ahead of the clock, so later ones are refused as older. Correct the clocks, then publish a snapshot with `--rollback`.',
  },
  FoyerSnapshotMissing: {
    expr: 'foyer_snapshot_file_missing == 1',
    severity: 'critical',
    runbook:
      'The file of a live snapshot is gone, so that a restart would be an outage. Publish it again; if its organizations are to go, restart the process.',
  },
  FoyerFeedFailed: {
    expr: 'foyer_feed_failed == 1',
    for: '2m',
    runbook:
      'A feed fails, and the data grows old. `/status` has the failure, and the output of the feed the details.',
  },
  FoyerFeedLate: {
    expr: 'time() - foyer_feed_published_timestamp_seconds > 240 unless on (job, instance, file) foyer_feed_paused == 1',
    for: '1m',
    runbook:
      'A feed has not published for 5 minutes: it hangs, or its timer is off. If its interval, or a whole export, is longer, change the 240 seconds in a copy of the rule.',
  },
  FoyerFeedHoldsBack: {
    expr: 'foyer_feed_organizations_held_back > 0',
    runbook:
      'Organizations keep an earlier state, since their lines break the contract. `/status` has the reasons. The next feed with correct lines releases them.',
  },
  FoyerReplicasDiffer: {
    expr: 'max by (job, file) (foyer_snapshot_produced_timestamp_seconds offset 10m) > min by (job, file) (foyer_snapshot_produced_timestamp_seconds)',
    for: '15m',
    runbook:
      'Of several replicas, one serves a snapshot that another replaced 10 minutes ago. Find the one that refuses it, or does not pull.',
  },
  FoyerVersionsDiffer: {
    expr: 'count by (job) (count by (job, version, snapshot_format) (foyer_build_info)) > 1',
    for: '1h',
    runbook:
      'Several replicas run different versions. Complete the [upgrade](operations.md#upgrading-to-another-format).',
  },
  FoyerSnapshotFolderRefused: {
    expr: 'foyer_snapshot_folder_refused == 1',
    runbook: 'The snapshot folder cannot be read. Check `SNAPSHOT_DIR` and its permissions.',
  },
  FoyerKeysFileRefused: {
    expr: 'foyer_keys_file_refused == 1',
    severity: 'critical',
    runbook: 'The keys file cannot be used, so no revocation comes into force. Check `KEYS_FILE`.',
  },
  FoyerKeysFileExposed: {
    expr: 'foyer_keys_file_exposed == 1',
    severity: 'critical',
    runbook:
      'Other users can create keys and restore revoked ones. Remove the write permission of group and others (`chmod go-w`) from the file or its folder, and check `npm run keys -- list`.',
  },
  FoyerKeysWithoutData: {
    expr: 'rate(foyer_requests_refused_total{reason="organization-not-loaded"}[10m]) > 0',
    for: '15m',
    runbook:
      'Requests with a key get 429, since no live snapshot holds its organization. `hasData` is false in `/status`. Publish the organization, or if its id is mistyped, replace the key.',
  },
  FoyerSlow: {
    expr: 'histogram_quantile(0.99, sum by (job, instance, le) (rate(foyer_request_duration_seconds_bucket[15m]))) > 0.1',
    runbook: 'Responses are slow. Check `foyer_event_loop_delay_seconds` and the machine.',
  },
  FoyerOverload: {
    expr: 'rate(foyer_requests_refused_total{reason="overload"}[15m]) > 0',
    runbook:
      'Requests are refused ([overload](operations.md#overload)). Increase `THREADS` if processors are left, else add a machine.',
  },
  FoyerRateLimit: {
    expr: 'rate(foyer_requests_refused_total{reason="rate-limit"}[15m]) > 0',
    runbook:
      'A key is over its limit. The log names the organization (`reason` is `rate-limit`). Contact the integrator, or increase `RATE_LIMIT_PER_MINUTE`.',
  },
  FoyerConnections: {
    expr: 'rate(foyer_connections_ended_total{reason="limit"}[15m]) > 0 or foyer_connections_open > 0.8 * foyer_connections_limit',
    runbook:
      'Too many [connections](operations.md#connections) are open. Bound those of an address in the proxy, or raise the limit.',
  },
  FoyerFlood: {
    expr: 'rate(foyer_connections_ended_total{reason="pipelining"}[15m]) > 0 or rate(foyer_requests_refused_total{reason="refusals"}[15m]) > 1',
    runbook:
      'An address floods: lower its limits in the proxy. The log of the proxy has it, and the log of Foyer the keys.',
  },
  FoyerUnsent: {
    expr: 'foyer_unsent_bytes > 100e6 or rate(foyer_connections_ended_total{reason="unsent-bytes"}[15m]) > 0',
    runbook: 'Clients do not read responses. Buffer these in a proxy, or lower `WRITE_TIMEOUT_SECONDS`.',
  },
  FoyerOpenFiles: {
    expr: 'process_open_fds{job="foyer"} > 0.8 * process_max_fds{job="foyer"}',
    runbook: 'The open files are near their limit. Raise the limit (`ulimit -n`, `LimitNOFILE=`).',
  },
  FoyerWalksEnd: {
    expr: 'rate(foyer_pinned_requests_total{outcome="gone"}[15m]) > 0',
    runbook:
      'Walks outlive their [data](operations.md#from-file-to-live-data): they are slow, or memory is short. The log names the organization (`pin` is `gone`).',
  },
  FoyerWalksWait: {
    expr: 'rate(foyer_pinned_requests_total{outcome="not-loaded"}[15m]) > 0.1',
    runbook:
      'Walks wait for data of another replica, or of the process before a restart. Publish to all replicas at the same time, or send a client to one of them.',
  },
  FoyerDefect: {
    expr: 'increase(foyer_threads_replaced_total[15m]) > 0 or sum by (job, instance) (rate(foyer_requests_total{status="500"}[15m])) > 0',
    severity: 'critical',
    runbook:
      'A thread ended, or a request got 500. Report it with the line of the log (`a worker ended and is replaced`, or `unexpected error`).',
  },
  FoyerLogLinesDropped: {
    expr: 'rate(foyer_log_lines_dropped_total[15m]) > 0',
    runbook:
      'Lines of the [log](operations.md#the-log) are lost. Its reader is too slow, or the disk is full.',
  },
  FoyerMemory: {
    expr: 'process_resident_memory_bytes{job="foyer"} > 0.9 * foyer_memory_limit_bytes',
    runbook: 'Memory is short. See [Sizing](operations.md#sizing).',
  },
};

const pullGauge = (help: string, ...labels: string[]): Omit<Metric, 'read'> => ({
  type: 'gauge',
  help,
  labels,
});

/** Those of the pull, which the textfile collector of the node exporter serves. */
export const PULL_METRICS: Readonly<Record<string, Omit<Metric, 'read'>>> = {
  foyer_pull_last_success_timestamp_seconds: pullGauge('Time of the latest pull that succeeded.', 'file'),
  foyer_pull_failed: pullGauge('Whether the latest pull failed.', 'file'),
  foyer_pull_followed_info: pullGauge(
    '1; the snapshot that is published, or the digest of the keys file.',
    'file',
    'id',
  ),
  foyer_pull_pinned_info: pullGauge('1; the snapshot of the pin file. Absent without one.', 'file', 'id'),
};

/** Those of the pulls of deploy/distribute. The first one also fires without any metric of a pull. */
export const PULL_ALERTS: typeof ALERTS = {
  FoyerPullStale: {
    expr: 'time() - foyer_pull_last_success_timestamp_seconds > 300 or absent(foyer_pull_last_success_timestamp_seconds)',
    severity: 'critical',
    runbook:
      'A machine does not pull, so neither data nor revocations of keys arrive. Check the timer of the pull, the store, and the textfile collector of the node exporter.',
  },
  FoyerPullFailed: {
    expr: 'foyer_pull_failed == 1',
    runbook: 'A pull fails. The machine keeps its file. The log of the pull has the reason.',
  },
  FoyerPullPinned: {
    expr: 'count by (job, instance, file) (foyer_pull_pinned_info) > 0',
    for: '1d',
    runbook: 'A snapshot has been pinned for a day. Remove the pin file when newer data may go live.',
  },
};
