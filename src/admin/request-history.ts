import type { HistogramTotals, RequestTotals } from '../counts/request-metrics.ts';

const INTERVAL_SECONDS = 10;
/** The intervals of an hour. */
const MAX_INTERVALS = 3600 / INTERVAL_SECONDS;

/** The columns of a sample. */
const TIME = 0;
const REQUESTS = 1;
const TOO_MANY_REQUESTS = 2;
const CLIENT_ERRORS = 3;
const SERVER_ERRORS = 4;
const FIRST_BUCKET = 5;

/** The requests between two samples. */
export type RequestInterval = ReturnType<RequestHistory['intervals']>[number];

/**
 * Samples the request metrics of all workers every 10 seconds, and keeps the samples of an hour. The metrics never
 * decrease, since they remain when a worker is replaced. A sample is a row of doubles: the time in milliseconds of a
 * monotonic clock, the totals of responses, and the number of durations in each bucket, of all operations.
 */
export class RequestHistory {
  readonly #totals: () => RequestTotals;
  readonly #monotonicNow: () => number;
  readonly #bounds: readonly number[];
  /** A ring. An interval lies between two samples. */
  readonly #rows: readonly Float64Array[];
  #samples = 0;
  readonly #timer: NodeJS.Timeout;

  /** Takes the first sample. The timer of the others does not keep the process alive. */
  constructor(totals: () => RequestTotals, monotonicNow: () => number) {
    this.#totals = totals;
    this.#monotonicNow = monotonicNow;
    this.#bounds = totals().durations[0].totals.bounds;
    const width = FIRST_BUCKET + this.#bounds.length + 1;
    this.#rows = Array.from({ length: MAX_INTERVALS + 1 }, () => new Float64Array(width));
    this.sample();
    this.#timer = setInterval(() => {
      this.sample();
    }, INTERVAL_SECONDS * 1000).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  sample(): void {
    const { requests, durations } = this.#totals();
    const row = this.#row(this.#samples++).fill(0);
    row[TIME] = this.#monotonicNow();
    for (const { status, count } of requests) {
      row[REQUESTS] += count;
      const errors = errorColumn(status);
      if (errors !== undefined) row[errors] += count;
    }
    for (const { totals } of durations) {
      for (const [i, count] of totals.counts.entries()) row[FIRST_BUCKET + i] += count;
    }
  }

  /**
   * Returns the intervals of the last hour, oldest first.
   * @param now milliseconds since the epoch
   */
  intervals(now: number) {
    const last = this.#samples - 1;
    const first = Math.max(0, last - MAX_INTERVALS);
    const epoch = now - this.#monotonicNow();
    return Array.from({ length: last - first }, (_, i) => {
      const from = this.#row(first + i);
      const to = this.#row(first + i + 1);
      const change = to.map((total, column) => total - from[column]);
      const buckets = [...change.subarray(FIRST_BUCKET)];
      const percentile = (share: number) => percentileOf(buckets, this.#bounds, share);
      return {
        /** End of the interval, in seconds since the epoch. */
        until: Math.round(epoch + to[TIME]) / 1000,
        /** Length of the interval. A busy process samples late. */
        seconds: Math.round(change[TIME]) / 1000,
        /** Responses sent. */
        requests: change[REQUESTS],
        /** Responses with 429. */
        tooManyRequests: change[TOO_MANY_REQUESTS],
        /** Responses with another status from 400 to 499. */
        clientErrors: change[CLIENT_ERRORS],
        /** Responses with a status from 500 on. */
        serverErrors: change[SERVER_ERRORS],
        /** Percentiles of the time from a request to the end of its response, in seconds; null without a request. */
        p50: percentile(0.5),
        p95: percentile(0.95),
        p99: percentile(0.99),
      };
    });
  }

  #row(sample: number): Float64Array {
    return this.#rows[sample % this.#rows.length];
  }
}

/** Returns the column that counts responses with an error status; undefined for another status. */
function errorColumn(status: string): number | undefined {
  if (status === '429') return TOO_MANY_REQUESTS;
  if (status.startsWith('4')) return CLIENT_ERRORS;
  return status.startsWith('5') ? SERVER_ERRORS : undefined;
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
