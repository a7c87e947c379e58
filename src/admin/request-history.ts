import { monotonicNow } from '../clock.ts';
import { DURATION_BOUNDS, type HistogramTotals, sumMetrics } from '../counts/request-metrics.ts';
import type { Supervisor } from '../workers/supervisor.ts';

const INTERVAL_SECONDS = 10;
const MAX_INTERVALS = 3600 / INTERVAL_SECONDS;

export type RequestHistory = ReturnType<typeof startRequestHistory>;
export type RequestInterval = ReturnType<RequestHistory>[number];

/**
 * Samples the request metrics of all workers every 10 seconds, and keeps the samples of an hour. The metrics never
 * decrease, since they remain when a worker is replaced. The timer does not keep the process alive.
 * @returns function that returns the intervals of the last hour, oldest first, at a time in milliseconds since the epoch
 */
export function startRequestHistory(workers: Pick<Supervisor, 'requestMetrics'>) {
  /** An interval lies between two samples. */
  const samples = [sampleOf(workers.requestMetrics)];
  setInterval(() => {
    samples.push(sampleOf(workers.requestMetrics));
    if (samples.length > MAX_INTERVALS + 1) samples.shift();
  }, INTERVAL_SECONDS * 1000).unref();
  return (now: number) => {
    const epoch = now - monotonicNow();
    return samples.slice(1).map((to, i) => {
      const from = samples[i];
      const buckets = to.buckets.map((count, bucket) => count - from.buckets[bucket]);
      const percentile = (share: number) => percentileOf(buckets, DURATION_BOUNDS, share);
      return {
        /** End of the interval, in seconds since the epoch. */
        until: Math.round(epoch + to.time) / 1000,
        /** Length of the interval. A busy process samples late. */
        seconds: Math.round(to.time - from.time) / 1000,
        requests: to.requests - from.requests,
        tooManyRequests: to.tooManyRequests - from.tooManyRequests,
        /** Responses with another status from 400 to 499. */
        clientErrors: to.clientErrors - from.clientErrors,
        serverErrors: to.serverErrors - from.serverErrors,
        /** Percentiles of the time from a request to the end of its response, in seconds; null without a request. */
        p50: percentile(0.5),
        p95: percentile(0.95),
        p99: percentile(0.99),
      };
    });
  };
}

/** Returns the totals since the start of the process, of all operations, at a time of the monotonic clock. */
function sampleOf(requestMetrics: Supervisor['requestMetrics']) {
  const { requests, durations } = sumMetrics(requestMetrics);
  const count = (isCounted: (status: string) => boolean) =>
    requests.reduce((sum, { status, count }) => (isCounted(status) ? sum + count : sum), 0);
  return {
    time: monotonicNow(),
    requests: count(() => true),
    tooManyRequests: count((status) => status === '429'),
    clientErrors: count((status) => status.startsWith('4') && status !== '429'),
    serverErrors: count((status) => status.startsWith('5')),
    /** Number of durations in each bucket of the histogram. */
    buckets: durations[0].totals.counts.map((_, i) =>
      durations.reduce((sum, { totals }) => sum + totals.counts[i], 0),
    ),
  };
}

/**
 * Estimates a percentile by linear interpolation within its bucket, like `histogram_quantile` of Prometheus. A value
 * above all bounds counts as the highest bound. Returns null without a value.
 */
export function percentileOf(
  counts: HistogramTotals['counts'],
  bounds: HistogramTotals['bounds'],
  share: number,
): number | null {
  const rank = share * counts.reduce((sum, count) => sum + count, 0);
  let below = 0;
  for (const [i, count] of counts.entries()) {
    if (count > 0 && below + count >= rank) {
      if (i === bounds.length) return bounds[i - 1];
      const lower = i === 0 ? 0 : bounds[i - 1];
      return lower + (bounds[i] - lower) * ((rank - below) / count);
    }
    below += count;
  }
  return null;
}
