import { isCalendarDate } from '../../src/contract/timestamp.ts';

export interface SampleOptions {
  readonly organizations: number;
  /** Total, divided as evenly as possible among the organizations. */
  readonly events: number;
  /** Total of all events. */
  readonly tickets: number;
  /** The same options give the same bytes. */
  readonly seed: number;
  /** The present day of the sample, `YYYY-MM-DD`: some events are past, some running, some upcoming. */
  readonly now: string;
}

export const DEFAULT_SAMPLE: SampleOptions = {
  organizations: 3,
  events: 24,
  tickets: 6000,
  seed: 1,
  now: '2026-11-21',
};

/** Inclusive ranges. Identifiers are unique up to the largest number of tickets. */
const SAMPLE_RANGES = {
  organizations: [1, 10_000],
  events: [1, 1_000_000],
  tickets: [1, 1_000_000_000],
  seed: [0, 0xffff_ffff],
} as const;

type Count = keyof typeof SAMPLE_RANGES;

/** Returns the rule that a value breaks; undefined for a valid one. */
export function countFault(name: Count, value: number): string | undefined {
  const [least, most] = SAMPLE_RANGES[name];
  if (Number.isInteger(value) && value >= least && value <= most) return undefined;
  return `must be a whole number from ${least} to ${most}`;
}

export function dayFault(value: string): string | undefined {
  return isCalendarDate(value) ? undefined : 'must be a calendar date, such as 2027-03-14';
}

/** @throws RangeError with the name of the first invalid option */
export function checkSampleOptions(options: SampleOptions): void {
  for (const name of ['organizations', 'events', 'tickets', 'seed'] as const) {
    const fault = countFault(name, options[name]);
    if (fault) throw new RangeError(`${name} ${fault}, not ${options[name]}`);
  }
  const fault = dayFault(options.now);
  if (fault) throw new RangeError(`now ${fault}, not ${options.now}`);
}
