import { type Metric, METRICS } from '../../src/admin/prometheus.ts';
import { REFUSAL_REASONS } from '../../src/counts/request-metrics.ts';
import { type Alert, ALERTS, PULL_ALERTS, PULL_METRICS } from './alerts.ts';
import { table } from './tables.ts';

/** The files for Prometheus and Grafana, and the parts of documents about metrics and alerts. */

const DEFAULT_FOR = '5m';

export function metricTable(): string {
  const rows = Object.entries({ ...METRICS, ...PULL_METRICS }).map(([name, { type, labels, help }]) => [
    `\`${name}\``,
    type,
    labels.map((label) => `\`${label}\``).join(', '),
    help,
  ]);
  return table(['metric', 'type', 'labels', 'meaning'], rows);
}

export function reasonTable(): string {
  return table(
    ['reason', 'status and cause'],
    Object.entries(REFUSAL_REASONS).map(([reason, cause]) => [`\`${reason}\``, cause]),
  );
}

export function alertTable(): string {
  const rows = Object.entries({ ...ALERTS, ...PULL_ALERTS }).map(
    ([name, { for: time, severity, runbook }]) => [
      name,
      `${severity ?? 'warning'}, ${time ?? DEFAULT_FOR}`,
      runbook,
    ],
  );
  return table(['alert', 'severity, after', 'cause and remedy'], rows);
}

/** Returns the rules of the process, for each machine. */
export function processRules(): string {
  return rulesFile('The job of the replicas is foyer.', 'foyer', ALERTS);
}

/** Returns the rules of the pulls, for machines on which these write metrics. */
export function pullRules(): string {
  return rulesFile('Only for pulls with a METRICS_FILE.', 'foyer-pull', PULL_ALERTS);
}

function rulesFile(condition: string, group: string, alerts: typeof ALERTS): string {
  const rules = Object.entries(alerts).map(([name, alert]) => rule(name, alert));
  return `# Derived from scripts/reference/alerts.ts by \`npm run reference\`. ${condition}
# A runbook is a path in the repository.
groups:
  - name: ${group}
    rules:
${rules.join('')}`;
}

function rule(name: string, { expr, for: time, severity, runbook: text }: Alert): string {
  const [summary] = text.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').split(/(?<=\.)\s/, 1);
  const quoted = (value: string) => `'${value.replaceAll("'", "''")}'`;
  return `      - alert: ${name}
        expr: ${quoted(expr)}
        for: ${time ?? DEFAULT_FOR}
        labels: { severity: ${severity ?? 'warning'} }
        annotations:
          summary: ${quoted(summary)}
          runbook: docs/reference.md#alerts
`;
}

/** The rows of the dashboard, with the metrics of each. */
const ROWS: Readonly<Record<string, RegExp>> = {
  Data: /^foyer_(ready|snapshot|feed)/,
  Requests: /^foyer_(request|pinned|streams|event)/,
  Clients: /^foyer_(connections|unsent|keys)/,
  Process: /^(process|foyer_(build|threads|log|store|retention|memory))/,
  Pull: /^foyer_pull/,
};
const DATASOURCE = { type: 'prometheus', uid: '${datasource}' };
type Declared = Omit<Metric, 'read'>;

/** Returns a dashboard with a panel for each metric, one in a line. Grafana closes the gaps between its rows. */
export function dashboardFile(): string {
  const metrics: [string, Declared][] = [
    ...Object.entries({ ...METRICS, ...PULL_METRICS }),
    ['process_cpu_seconds_total', { type: 'counter', help: 'Processors in use.', labels: [] }],
    ['process_resident_memory_bytes', { type: 'gauge', help: 'Memory of the process.', labels: [] }],
    ['process_open_fds', { type: 'gauge', help: 'Open files.', labels: [] }],
  ];
  const rows = Object.entries(ROWS).flatMap(([title, names], row) => [
    { type: 'row', title, gridPos: { x: 0, y: 100 * (row + 1), w: 24, h: 1 } },
    ...metrics
      .filter(([name]) => names.test(name))
      .map(([name, metric], i) => {
        const gridPos = { x: (i % 3) * 8, y: 100 * (row + 1) + 1 + Math.floor(i / 3) * 7, w: 8, h: 7 };
        return panel(name, metric.help, queryOf(name, metric), ['instance', ...metric.labels], gridPos);
      }),
  ]);
  const firing = 'ALERTS{alertname=~"Foyer.+", alertstate="firing"}';
  const all = { x: 0, y: 0, w: 24, h: 7 };
  const panels = [panel('Alerts', 'Alerts that fire.', firing, ['alertname', 'instance'], all), ...rows];
  const query = { type: 'query', query: 'label_values(foyer_build_info, instance)', datasource: DATASOURCE };
  const selected = { current: { value: ['$__all'] } };
  const variables = [
    { name: 'datasource', type: 'datasource', query: 'prometheus' },
    { name: 'instance', ...query, refresh: 2, multi: true, includeAll: true, allValue: '.*', ...selected },
  ];
  const dashboard = {
    ...{ title: 'Foyer', uid: 'foyer', schemaVersion: 39, time: { from: 'now-6h', to: 'now' } },
    templating: { list: variables },
  };
  const lines = panels.map((one) => JSON.stringify(one));
  return `${JSON.stringify(dashboard).slice(0, -1)},"panels":[\n${lines.join(',\n')}\n]}\n`;
}

function panel(title: string, description: string, expr: string, labels: readonly string[], gridPos: object) {
  const unit = title.endsWith('_bytes') ? 'bytes' : title.endsWith('_seconds') ? 's' : 'short';
  const legendFormat = labels.map((label) => `{{${label}}}`).join(' ');
  return {
    ...{ type: 'timeseries', title, description, gridPos, datasource: DATASOURCE },
    ...{ fieldConfig: { defaults: { unit } }, targets: [{ refId: 'A', expr, legendFormat }] },
  };
}

/** Returns the query of a panel: the rate of a counter, the 99th percentile of a histogram, the age of a time. */
function queryOf(name: string, { type, labels }: Declared): string {
  const isOfPull = name.startsWith('foyer_pull');
  const selector = isOfPull ? '' : '{job="foyer", instance=~"$instance"}';
  const by = ['instance', ...labels].join(', ');
  // Most of the requests_total are 0.
  const condition = labels.length > 1 ? ' > 0' : '';
  if (type === 'counter') return `sum by (${by}) (rate(${name}${selector}[$__rate_interval]))${condition}`;
  if (type === 'gauge')
    return name.endsWith('_timestamp_seconds') ? `time() - ${name}${selector}` : `${name}${selector}`;
  return `histogram_quantile(0.99, sum by (le, ${by}) (rate(${name}_bucket${selector}[$__rate_interval])))`;
}
