import type { Random } from '../../../scripts/sample/random.ts';
import { parseTimestamp } from '../../../src/contract/timestamp.ts';

/** Instants that repeat often, with near neighbours, and the many ways to write each of them. */

const ANCHORS = [
  '2026-11-01T10:00:00Z',
  '2026-11-21T12:00:00Z',
  '2027-03-14T19:30:00Z',
  '1970-01-01T00:00:00Z',
  '1969-07-20T20:17:40Z',
  '0031-01-01T12:00:00Z',
  '2255-06-05T23:47:34Z', // the last second whose microseconds a double represents exactly
  '2305-08-08T08:08:08.777Z',
  '9998-12-30T23:59:59.999Z',
];
/** Microseconds. */
const STEPS = [0n, 0n, 0n, 0n, 1n, -1n, 999n, 1000n, -1000n, 1_000_000n, 60_000_000n];
/** Share of anchors among the first three, because ties are the hard case. */
const NEAR = 0.75;

const OFFSETS = ['Z', 'Z', '+00:00', '-00:00', '+01:00', '+02:00', '-03:30', '+05:45', '+14:00', '-23:59'];
const MICROS = 1_000_000n;

export function randomInstant(random: Random): bigint {
  const anchor = random.chance(NEAR) ? ANCHORS[random.below(3)] : random.pick(ANCHORS);
  return (parseTimestamp(anchor) ?? 0n) + random.pick(STEPS);
}

/** The form of an instant in RFC 3339: the offset, and the part after the minutes. */
export interface Form {
  readonly offset: string;
  readonly seconds: string;
}

export function randomForm(random: Random, instant: bigint): Form {
  return { offset: random.pick(OFFSETS), seconds: randomSeconds(random, instant) };
}

export function write(instant: bigint, { offset, seconds }: Form): string {
  const local = new Date(Number(floorDivide(instant, 1000n)) + minutesOf(offset) * 60_000);
  return local.toISOString().slice(0, 16) + seconds + offset;
}

export function writeServed(random: Random, instant: bigint): string {
  return write(instant, randomForm(random, instant));
}

/** Writes a served timestamp in another form of ISO 8601: basic, to the minute, with a comma or a shorter offset. */
export function rewritten(random: Random, served: string): string {
  const [, date, minute, second, fraction = '', sign, offset] =
    /^(.{10})T(.{5}):(..)(?:\.(\d+))?([Z+-])(.*)$/.exec(served) ?? [];
  const isShort = second === '00' && fraction === '' && random.chance(0.5);
  const decimals = fraction === '' ? '' : random.pick(['.', ',']) + fraction;
  const local = `${date}T${minute}${isShort ? '' : `:${second}${decimals}`}`;
  const zone = random.pick([offset, offset.replace(':', ''), offset.replace(/:00$/, '')]);
  return (random.chance(0.3) ? local.replaceAll(/[-:]/g, '') : local) + sign + zone;
}

export function writeAnyhow(random: Random, instant: bigint): string {
  return rewritten(random, writeServed(random, instant));
}

/** Writes seconds and fraction of an instant, with superfluous digits or finer ones that must be cut. */
function randomSeconds(random: Random, instant: bigint): string {
  const inMinute = instant - floorDivide(instant, 60n * MICROS) * 60n * MICROS;
  const second = inMinute / MICROS;
  const fraction = String(inMinute % MICROS).padStart(6, '0');
  const whole = `:${String(second).padStart(2, '0')}`;
  if (random.chance(0.3)) return `${whole}.${fraction}${random.pick(['0', '9', '999', '500000001'])}`;
  const needed = fraction.replace(/0+$/, '').length;
  const digits = random.between(needed, 6);
  return digits === 0 ? whole : `${whole}.${fraction.slice(0, digits)}`;
}

function minutesOf(offset: string): number {
  if (offset === 'Z') return 0;
  const minutes = Number(offset.slice(1, 3)) * 60 + Number(offset.slice(4, 6));
  return offset.startsWith('-') ? -minutes : minutes;
}

export function floorDivide(dividend: bigint, divisor: bigint): bigint {
  const quotient = dividend / divisor;
  return dividend % divisor < 0n ? quotient - 1n : quotient;
}
