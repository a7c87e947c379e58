import { OPERATIONS } from '../contract/operations.ts';
import { PREVIEW, STABLE, type Version } from '../contract/releases.ts';
import { RETRY_REASONS, type RetryReason } from './response/problem.ts';

/**
 * A histogram in memory that threads may share; one of them writes it. Of `n` bounds, rising:
 *
 *     slots   0 … n − 1   how many values lie above the bound before and not above bounds[i]
 *             n           how many lie above all bounds
 *             n + 1       the sum of all values
 */
export class SharedHistogram {
  readonly #slots: Float64Array;
  readonly #bounds: readonly number[];

  constructor(slots: Float64Array, bounds: readonly number[]) {
    this.#slots = slots;
    this.#bounds = bounds;
  }

  observe(value: number): void {
    const bounds = this.#bounds;
    let bucket = 0;
    while (bucket < bounds.length && value > bounds[bucket]) bucket++;
    this.#slots[bucket]++;
    this.#slots[bounds.length + 1] += value;
  }
}

/** Values counted by bucket: one for each bound, and one for what lies above them all. */
export interface HistogramTotals {
  readonly bounds: readonly number[];
  readonly counts: readonly number[];
  readonly sum: number;
}

export function histogramSlots(bounds: readonly number[]): number {
  return bounds.length + 2;
}

export function histogramTotals(slots: Float64Array, bounds: readonly number[]): HistogramTotals {
  return { bounds, counts: [...slots.subarray(0, bounds.length + 1)], sum: slots[bounds.length + 1] };
}

/** What requests are counted by. The values are few and fixed, whatever is asked for. */
const OTHER = 'other';
const OPERATION_LABELS: readonly string[] = [...OPERATIONS.map(({ id }) => id), OTHER];
const STATUSES: readonly number[] = [200, 204, 304, 400, 403, 404, 405, 408, 413, 429, 431, 500];
const STATUS_LABELS: readonly string[] = [...STATUSES.map(String), OTHER];
const UPCOMING = 'upcoming';
const NONE = 'none';
const VERSION_LABELS: readonly string[] = [STABLE, PREVIEW, UPCOMING, NONE];

/** Seconds. */
const DURATION_BOUNDS: readonly number[] = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5,
];
/** Seconds. */
const DELAY_BOUNDS: readonly number[] = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 5];

/**
 * The counts of a thread, one number after the other. Doubles count to 2^53, and a 64-bit machine never reads
 * half of one.
 *
 *     requests    by operation, status and version
 *     later       429s by reason
 *     durations   a histogram for each operation
 *     delay       a histogram of how late the event loop is
 */
const LATER = OPERATION_LABELS.length * STATUS_LABELS.length * VERSION_LABELS.length;
const DURATIONS = LATER + RETRY_REASONS.length;
const DELAY = DURATIONS + OPERATION_LABELS.length * histogramSlots(DURATION_BOUNDS);
const SLOTS = DELAY + histogramSlots(DELAY_BOUNDS);

const OPERATION_INDEX: ReadonlyMap<string, number> = new Map(OPERATIONS.map(({ id }, i) => [id, i]));
const OTHER_OPERATION = OPERATION_LABELS.indexOf(OTHER);
/** By status, of which HTTP has none above 999. */
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

/** Slots of the durations of an operation. */
function durationSlots(slots: Float64Array, operation: number): Float64Array {
  const length = histogramSlots(DURATION_BOUNDS);
  return slots.subarray(DURATIONS + operation * length, DURATIONS + (operation + 1) * length);
}

/** A request that was answered. */
export interface AnsweredRequest {
  /** Id of its operation. */
  readonly operation: string | undefined;
  readonly status: number;
  readonly version: Version | undefined;
  readonly later: RetryReason | undefined;
  readonly seconds: number;
}

/** What one thread has answered since it started. Other threads read it by its buffer; this one alone writes. */
export class RequestMetrics {
  readonly buffer: SharedArrayBuffer;
  readonly #slots: Float64Array;
  readonly #durations: readonly SharedHistogram[];
  readonly #delay: SharedHistogram;

  constructor(buffer = new SharedArrayBuffer(SLOTS * Float64Array.BYTES_PER_ELEMENT)) {
    const slots = new Float64Array(buffer);
    this.buffer = buffer;
    this.#slots = slots;
    this.#durations = OPERATION_LABELS.map(
      (_, operation) => new SharedHistogram(durationSlots(slots, operation), DURATION_BOUNDS),
    );
    this.#delay = new SharedHistogram(slots.subarray(DELAY), DELAY_BOUNDS);
  }

  countRequest({ operation = '', status, version, later, seconds }: AnsweredRequest): void {
    const index = OPERATION_INDEX.get(operation) ?? OTHER_OPERATION;
    this.#slots[requestSlot(index, STATUS_INDEX[status], versionIndex(version))]++;
    if (later !== undefined) this.#slots[LATER + RETRY_REASONS.indexOf(later)]++;
    this.#durations[index].observe(seconds);
  }

  /** Of what never came to be a request there is no operation, no version and no duration. */
  countRefusal(status: number): void {
    this.#slots[requestSlot(OTHER_OPERATION, STATUS_INDEX[status], versionIndex(undefined))]++;
  }

  /** How late the event loop was, by one look at it. */
  noteDelay(seconds: number): void {
    this.#delay.observe(seconds);
  }
}

/** What all threads have answered. */
export interface RequestTotals {
  /** The combinations that occurred. */
  readonly requests: readonly {
    readonly operation: string;
    readonly status: string;
    readonly version: string;
    readonly count: number;
  }[];
  /** 429s, of every reason. */
  readonly later: ReadonlyMap<RetryReason, number>;
  /** Seconds, of every operation. */
  readonly durations: readonly { readonly operation: string; readonly totals: HistogramTotals }[];
  /** Seconds. */
  readonly delay: HistogramTotals;
}

/** Adds up the requestMetrics of any number of threads. */
export function totalOfMetrics(requestMetrics: readonly RequestMetrics[]): RequestTotals {
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
    requests: requests.filter(({ count }) => count > 0),
    later: new Map(RETRY_REASONS.map((reason, i) => [reason, slots[LATER + i]])),
    durations: OPERATION_LABELS.map((operation, i) => ({
      operation,
      totals: histogramTotals(durationSlots(slots, i), DURATION_BOUNDS),
    })),
    delay: histogramTotals(slots.subarray(DELAY), DELAY_BOUNDS),
  };
}
