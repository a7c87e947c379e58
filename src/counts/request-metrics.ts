import { OPERATIONS } from '../contract/operations.ts';
import { PREVIEW, STABLE } from '../contract/releases.ts';

/** The labels of request counts, which do not depend on the content of requests. The last one is that of other values. */
const OPERATION_LABELS: readonly string[] = [...OPERATIONS.map(({ id }) => id), 'other'];
const STATUSES = [200, 204, 302, 304, 400, 403, 404, 405, 408, 413, 429, 431, 500, 'other'] as const;
const NONE = 'none';
const VERSION_LABELS: readonly string[] = [STABLE, PREVIEW, NONE, 'upcoming'];

function indexIn(labels: readonly unknown[], label: unknown): number {
  const index = labels.indexOf(label);
  return index < 0 ? labels.length - 1 : index;
}

/** The causes of refusals that the status does not tell, in metrics and in the log. */
export const REFUSAL_REASONS = {
  overload: '429: the requests of the thread wait too long',
  refusals: '429: over the limit of an address for requests without a valid key',
  'no-snapshot': '429: no snapshot is live yet',
  'no-keys': '429: no keys are loaded yet',
  'key-missing': '400: no key',
  'key-malformed': '400: a key in another form',
  'key-unknown': '403: a key that is not in the keys file',
  'key-expired': '403: an expired key',
  'key-revoked': '403: a revoked key',
  'rate-limit': '429: over the rate limit of the key',
  'organization-not-loaded': '429: no live snapshot holds the organization of the key',
  version: '400: an invalid version of the API; 404: an operation that the version does not have',
  query: '400: an invalid query',
  'list-not-loaded': '429: the list of the link may still be loaded',
  'snapshot-not-loaded': '429: the snapshot of the token may still be loaded',
  streams: '429: two streams of the key are open',
};
export type RequestRefusal = keyof typeof REFUSAL_REASONS;
const REASONS: readonly string[] = Object.keys(REFUSAL_REASONS);

const END_REASONS = ['limit', 'pipelining', 'no-progress', 'unsent-bytes'] as const;
export type EndReason = (typeof END_REASONS)[number];

/** Outcomes of requests whose content digest did not select the live data. */
export const PIN_OUTCOMES = ['retained', 'gone', 'not-loaded'] as const;
export type PinOutcome = (typeof PIN_OUTCOMES)[number];

/** Upper bounds of the histogram buckets, in seconds. */
export const DURATION_BOUNDS: readonly number[] = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5,
];
const DELAY_BOUNDS: readonly number[] = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 5];
const SAMPLE_MS = 50;

export type MetricsMemory = ReturnType<typeof newMetricsMemory>;

/**
 * Creates the memory of a worker's metrics. A double counts to 2^53, and a 64-bit machine reads it atomically. A histogram
 * with `n` bounds:
 *
 *     0 … n − 1   count of values in the bucket up to bounds[i]
 *     n           count of values above all bounds
 *     n + 1       sum of all values
 */
function newMetricsMemory() {
  const slots = (length: number) =>
    new Float64Array(new SharedArrayBuffer(length * Float64Array.BYTES_PER_ELEMENT));
  return {
    /** By operation, status and version. */
    requests: slots(OPERATION_LABELS.length * STATUSES.length * VERSION_LABELS.length),
    refusals: slots(REASONS.length),
    /** A histogram for each operation. */
    durations: OPERATION_LABELS.map(() => slots(DURATION_BOUNDS.length + 2)),
    /** A histogram of the event-loop delay. */
    delay: slots(DELAY_BOUNDS.length + 2),
    /** Connections that the server ended, by reason. */
    ends: slots(END_REASONS.length),
    /** Requests whose content digest did not select the live data, by outcome. */
    pins: slots(PIN_OUTCOMES.length),
  };
}

function requestSlot(operation: number, status: number, version: number): number {
  return (operation * STATUSES.length + status) * VERSION_LABELS.length + version;
}

function observe(histogram: Float64Array, bounds: readonly number[], value: number): void {
  let bucket = 0;
  while (bucket < bounds.length && value > bounds[bucket]) bucket++;
  histogram[bucket]++;
  histogram[bounds.length + 1] += value;
}

/** One that the HTTP parser rejected has a status only. */
export interface AnsweredRequest {
  readonly status: number;
  /** Id of the operation; undefined when no route matches. */
  readonly operation?: string | undefined;
  readonly version?: string | undefined;
  readonly reason?: RequestRefusal | undefined;
  readonly pin?: PinOutcome | undefined;
  /** Undefined for a stream, whose duration depends on its client. */
  readonly seconds?: number | undefined;
}

/** The metrics of one worker. The worker writes them; other threads read them through the memory. */
export class RequestMetrics {
  readonly memory: MetricsMemory;

  constructor(memory = newMetricsMemory()) {
    this.memory = memory;
  }

  countRequest({ operation, status, version = NONE, reason, pin, seconds }: AnsweredRequest): void {
    const { requests, refusals, pins, durations } = this.memory;
    const index = indexIn(OPERATION_LABELS, operation);
    requests[requestSlot(index, indexIn(STATUSES, status), indexIn(VERSION_LABELS, version))]++;
    if (reason !== undefined) refusals[REASONS.indexOf(reason)]++;
    if (pin !== undefined) pins[PIN_OUTCOMES.indexOf(pin)]++;
    if (seconds !== undefined) observe(durations[index], DURATION_BOUNDS, seconds);
  }

  countEndedConnection(reason: EndReason): void {
    this.memory.ends[END_REASONS.indexOf(reason)]++;
  }

  observeDelay(seconds: number): void {
    observe(this.memory.delay, DELAY_BOUNDS, seconds);
  }

  /** Observes from now on how late a timer of this thread is. */
  sampleDelay(): void {
    let dueAt = performance.now() + SAMPLE_MS;
    setInterval(() => {
      const now = performance.now();
      this.observeDelay(Math.max(0, now - dueAt) / 1000);
      dueAt = now + SAMPLE_MS;
    }, SAMPLE_MS).unref();
  }
}

export type HistogramTotals = ReturnType<typeof histogramTotals>;

/** Returns the values of a histogram. The last count is of the values above all bounds. */
function histogramTotals(histogram: Float64Array, bounds: readonly number[]) {
  return { bounds, counts: [...histogram.subarray(0, bounds.length + 1)], sum: histogram[bounds.length + 1] };
}

export function sumMetrics(requestMetrics: readonly RequestMetrics[]) {
  const total = newMetricsMemory();
  const sums = Object.values(total).flat();
  for (const { memory } of requestMetrics)
    for (const [of, added] of Object.values(memory).flat().entries())
      for (const [i, value] of added.entries()) sums[of][i] += value;
  const byLabel = <Label>(labels: readonly Label[], counts: Float64Array) =>
    new Map(labels.map((label, i) => [label, counts[i]]));
  return {
    requests: OPERATION_LABELS.flatMap((operation, o) =>
      STATUSES.flatMap((status, s) =>
        VERSION_LABELS.map((version, v) => {
          const count = total.requests[requestSlot(o, s, v)];
          return { operation, status: String(status), version, count };
        }),
      ),
    ),
    refusals: byLabel(REASONS, total.refusals),
    /** Seconds, for each operation. */
    durations: OPERATION_LABELS.map((operation, i) => {
      return { operation, totals: histogramTotals(total.durations[i], DURATION_BOUNDS) };
    }),
    /** Seconds. */
    delay: histogramTotals(total.delay, DELAY_BOUNDS),
    ends: byLabel(END_REASONS, total.ends),
    pins: byLabel(PIN_OUTCOMES, total.pins),
  };
}
