import { expect } from 'chai';
import fc from 'fast-check';
import { instantOrder } from '../../src/store/index/instant-index.ts';
import { nextSessionFields, NextSessions } from '../../src/store/next-sessions.ts';
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
  return {
    firstOfEvent,
    eventOf: Uint32Array.from(inOrder.flatMap((sessions, event) => sessions.map(() => event))),
    starts,
    startOrder: instantOrder(starts),
    nextFields: pack([]),
  };
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

/** Times around the starts, in milliseconds, back and forth. */
function walks({ starts }: ScheduleImage): fc.Arbitrary<number[]> {
  const around = (instant: bigint) => [1, 0, -1, 0, 1].map((step) => Number(instant / 1000n) + step);
  const far = fc.constantFrom([-8.64e15], [8.64e15]);
  return fc
    .array(fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...starts).map(around) }, far), { maxLength: 12 })
    .map((steps) => steps.flat());
}

const scheduleAndWalk = schedules.chain((image) => fc.tuple(fc.constant(image), walks(image)));

describe('NextSessions', () => {
  it('knows the next session of each event, and how many have started, when time moves in either direction', () => {
    fc.assert(
      fc.property(scheduleAndWalk, ([image, times]) => {
        const before = structuredClone(image);
        const next = new NextSessions(image);
        const counting = new NextSessions(image);
        const events = [...image.firstOfEvent.keys()].slice(0, -1);
        for (const now of times) {
          const found = events.map((event) => next.of(event, now));
          const about = `at ${now}, after others`;
          expect(found, about).to.deep.equal(events.map((event) => naiveNext(image, event, now)));
          const started = image.starts.filter((instant) => instant <= BigInt(now) * 1000n).length;
          expect(counting.epoch(now), about).to.equal(started);
        }
        expect(image, 'the shared image').to.deep.equal(before);
      }),
      { ...FIXED, numRuns: 500 },
    );
  });

  it('has none without sessions', () => {
    expect(new NextSessions(scheduleImage([])).epoch(0)).to.equal(0);
  });
});

describe('nextSessionFields', () => {
  it('returns the last bytes of a record', () => {
    const end = nextSessionFields('2027-03-14T20:00:00+01:00', 'ses "1"');
    expect(JSON.parse('{"id":"a"' + end)).to.deep.equal({
      id: 'a',
      nextSessionStartAt: '2027-03-14T20:00:00+01:00',
      nextSessionId: 'ses "1"',
    });
    expect(nextSessionFields(null, null)).to.equal(',"nextSessionStartAt":null,"nextSessionId":null}');
  });
});
