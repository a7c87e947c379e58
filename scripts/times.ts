import { InvalidArgumentError } from 'commander';
import { parseTimestamp } from '../src/contract/timestamp.ts';

/** Times and durations as commands accept them. */

export const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
export const INSTANT_FORM =
  'an ISO 8601 date and time with Z or an offset, such as 2027-01-31T20:00:00+01:00';
export const DURATION_FORM = 'a whole number of days or hours, such as 90d or 12h';

/** Parses the value of an option. Returns milliseconds. */
export function duration(text: string): number {
  const ms = durationMs(text);
  if (ms === undefined) throw new InvalidArgumentError(`It must be ${DURATION_FORM}.`);
  return ms;
}

/** Returns the milliseconds of a duration such as `90d`; undefined when it has another form. */
export function durationMs(text: string): number | undefined {
  const parts = /^(\d{1,5})([dh])$/.exec(text);
  if (parts === null) return undefined;
  return Number(parts[1]) * (parts[2] === 'd' ? DAY_MS : HOUR_MS);
}

/** Returns the milliseconds since the epoch of an instant; undefined when the text has another form. */
export function instantMs(text: string): number | undefined {
  const instant = parseTimestamp(text);
  return instant === undefined ? undefined : Number(instant / 1000n);
}
