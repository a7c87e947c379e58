import type { HistogramTotals } from '../http/shared-histogram.ts';

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
