import { expect } from 'chai';
import fc from 'fast-check';
import { instantImage } from '../../src/store/index/instant-index.ts';
import { nextSession, startedSessions } from '../../src/store/next-sessions.ts';
import type { ScheduleImage } from '../../src/store/organization-image.ts';
import { pack } from '../support/pack.ts';
import { FIXED } from '../support/random.ts';

/** `schedule[event]` are the starts of its sessions, in microseconds. */
type Schedule = readonly (readonly bigint[])[];

function scheduleImage(schedule: Schedule): ScheduleImage {
  const inOrder = schedule.map((starts) => [...BigInt64Array.from(starts).sort()]);
  const starts = BigInt64Array.from(inOrder.flat());
  const firstOfEvent = new Uint32Array(schedule.length + 1);
  inOrder.forEach(({ length }, event) => (firstOfEvent[event + 1] = firstOfEvent[event] + length));
  const eventOf = Uint32Array.from(inOrder.flatMap((sessions, event) => sessions.map(() => event)));
  return { firstOfEvent, eventOf, starts, startAt: instantImage(starts, eventOf), nextFields: pack([]) };
}

/** Returns the row of an event's first session after a time, or -1. */
function naiveNext({ starts, eventOf }: ScheduleImage, event: number, now: number): number {
  const instant = BigInt(now) * 1000n;
  return starts.findIndex((start, session) => eventOf[session] === event && start > instant);
}

/** Microseconds around a few milliseconds, some beyond the safe integers of a double. */
const start = fc
  .tuple(
    fc.constantFrom(0n, 1000n, 1_795_000_000_000_000n, -62_000_000_000_000_000n, 253_370_764_799_999_000n),
    fc.oneof(fc.constantFrom(0n, 1n, -1n), fc.bigInt({ min: -1001n, max: 1001n })),
  )
  .map(([anchor, step]) => anchor + step);
const schedules = fc
  .array(fc.array(start, { minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 6 })
  .map(scheduleImage);

/** The time of a start in milliseconds, or one near it, or one far from all. */
const times = ({ starts }: ScheduleImage) => {
  const near = fc
    .tuple(fc.constantFrom(...starts), fc.constantFrom(-1, 0, 1))
    .map(([start, step]) => Number(start / 1000n) + step);
  return fc.oneof({ weight: 9, arbitrary: near }, fc.constantFrom(-8.64e15, 8.64e15));
};

const scheduleAndTime = schedules.chain((image) => fc.tuple(fc.constant(image), times(image)));

describe('The next sessions', () => {
  it('are the first ones of the events after a time, and the started ones are those up to it', () => {
    fc.assert(
      fc.property(scheduleAndTime, ([image, now]) => {
        const events = [...image.firstOfEvent.keys()].slice(0, -1);
        const found = events.map((event) => nextSession(image, event, now));
        expect(found).to.deep.equal(events.map((event) => naiveNext(image, event, now)));
        const started = image.starts.filter((instant) => instant <= BigInt(now) * 1000n).length;
        expect(startedSessions(image, now)).to.equal(started);
      }),
      { ...FIXED, numRuns: 2000 },
    );
  });
});
