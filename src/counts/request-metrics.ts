import { OPERATIONS } from '../contract/operations.ts';
import { PREVIEW, STABLE, type Version } from '../contract/releases.ts';

/** The labels of request counts. Their values do not depend on the content of requests. */
const OTHER = 'other';
const OPERATION_LABELS: readonly string[] = [...OPERATIONS.map(({ id }) => id), OTHER];
const STATUSES: readonly number[] = [200, 204, 302, 304, 400, 403, 404, 405, 408, 413, 429, 431, 500];
const STATUS_LABELS: readonly string[] = [...STATUSES.map(String), OTHER];
const UPCOMING = 'upcoming';
const NONE = 'none';
const VERSION_LABELS: readonly string[] = [STABLE, PREVIEW, UPCOMING, NONE];

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

/**
 * The metrics of a worker, in consecutive slots. A double counts to 2^53, and a 64-bit machine reads it atomically.
 *
 *     requests    count by operation, status and version
 *     refusals    count of refusals by reason
 *     durations   histogram for each operation
 *     delay       histogram of the event-loop delay
 *     ends        count of connections that the server ended, by reason
 *     pins        count of requests whose content digest did not select the live data, by outcome
 *
 * A histogram with `n` bounds:
 *
 *     0 … n − 1   count of values in the bucket up to bounds[i]
 *     n           count of values above all bounds
 *     n + 1       sum of all values
 */
const REFUSALS = OPERATION_LABELS.length * STATUS_LABELS.length * VERSION_LABELS.length;
const DURATIONS = REFUSALS + REASONS.length;
const DURATION_SLOTS = DURATION_BOUNDS.length + 2;
const DELAY = DURATIONS + OPERATION_LABELS.length * DURATION_SLOTS;
const ENDS = DELAY + DELAY_BOUNDS.length + 2;
const PINS = ENDS + END_REASONS.length;
const SLOTS = PINS + PIN_OUTCOMES.length;

const OPERATION_INDEX: ReadonlyMap<string, number> = new Map(OPERATIONS.map(({ id }, i) => [id, i]));
const OTHER_OPERATION = OPERATION_LABELS.indexOf(OTHER);
/** By status. HTTP has none above 999. */
const STATUS_INDEX = new Uint8Array(1000).fill(STATUS_LABELS.indexOf(OTHER));
for (const [i, status] of STATUSES.entries()) STATUS_INDEX[status] = i;

function versionIndex(version: Version | undefined): number {
  if (version === undefined) return VERSION_LABELS.indexOf(NONE);
  const index = VERSION_LABELS.indexOf(version);
  return index >= 0 ? index : VERSION_LABELS.indexOf(UPCOMING);
}

function requestSlot(operation: number, status: number, version: number): number {
  return (operation * STATUS_LABELS.length + status) * VERSION_LABELS.length + version;
}

function durationSlots(slots: Float64Array, operation: number): Float64Array {
  return slots.subarray(DURATIONS + operation * DURATION_SLOTS, DURATIONS + (operation + 1) * DURATION_SLOTS);
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
  readonly version?: Version | undefined;
  readonly reason?: RequestRefusal | undefined;
  readonly pin?: PinOutcome | undefined;
  /** Undefined for a stream, whose duration depends on its client. */
  readonly seconds?: number | undefined;
}

/** The metrics of one worker. The worker writes them; other threads read them through the buffer. */
export class RequestMetrics {
  readonly buffer: SharedArrayBuffer;
  readonly #slots: Float64Array;
  readonly #durations: readonly Float64Array[];
  readonly #delay: Float64Array;

  constructor(buffer = new SharedArrayBuffer(SLOTS * Float64Array.BYTES_PER_ELEMENT)) {
    const slots = new Float64Array(buffer);
    this.buffer = buffer;
    this.#slots = slots;
    this.#durations = OPERATION_LABELS.map((_, operation) => durationSlots(slots, operation));
    this.#delay = slots.subarray(DELAY, ENDS);
  }

  countRequest({ operation = '', status, version, reason, pin, seconds }: AnsweredRequest): void {
    const index = OPERATION_INDEX.get(operation) ?? OTHER_OPERATION;
    this.#slots[requestSlot(index, STATUS_INDEX[status], versionIndex(version))]++;
    if (reason !== undefined) this.#slots[REFUSALS + REASONS.indexOf(reason)]++;
    if (pin !== undefined) this.#slots[PINS + PIN_OUTCOMES.indexOf(pin)]++;
    if (seconds !== undefined) observe(this.#durations[index], DURATION_BOUNDS, seconds);
  }

  countEndedConnection(reason: EndReason): void {
    this.#slots[ENDS + END_REASONS.indexOf(reason)]++;
  }

  observeDelay(seconds: number): void {
    observe(this.#delay, DELAY_BOUNDS, seconds);
  }
}

export type HistogramTotals = ReturnType<typeof histogramTotals>;

/** Returns the values of a histogram. The last count is of the values above all bounds. */
function histogramTotals(histogram: Float64Array, bounds: readonly number[]) {
  return { bounds, counts: [...histogram.subarray(0, bounds.length + 1)], sum: histogram[bounds.length + 1] };
}

export function sumMetrics(requestMetrics: readonly RequestMetrics[]) {
  const slots = new Float64Array(SLOTS);
  for (const { buffer } of requestMetrics) {
    const added = new Float64Array(buffer);
    for (let i = 0; i < SLOTS; i++) slots[i] += added[i];
  }
  const requests = OPERATION_LABELS.flatMap((operation, o) =>
    STATUS_LABELS.flatMap((status, s) =>
      VERSION_LABELS.map((version, v) => ({
        operation,
        status,
        version,
        count: slots[requestSlot(o, s, v)],
      })),
    ),
  );
  return {
    requests,
    refusals: new Map(REASONS.map((reason, i) => [reason, slots[REFUSALS + i]])),
    /** Seconds, for each operation. */
    durations: OPERATION_LABELS.map((operation, i) => ({
      operation,
      totals: histogramTotals(durationSlots(slots, i), DURATION_BOUNDS),
    })),
    /** Seconds. */
    delay: histogramTotals(slots.subarray(DELAY, ENDS), DELAY_BOUNDS),
    ends: new Map(END_REASONS.map((reason, i) => [reason, slots[ENDS + i]])),
    pins: new Map(PIN_OUTCOMES.map((outcome, i) => [outcome, slots[PINS + i]])),
  };
}
