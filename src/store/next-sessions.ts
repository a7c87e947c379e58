import type { Row } from './memory/shared-arrays.ts';
import type { ScheduleImage } from './organization-image.ts';

/** Returns the last fields of an event's record: its next session, or nulls. */
export function nextSessionFields(startAt: string | null, sessionId: string | null): string {
  const fields = JSON.stringify({ nextSessionStartAt: startAt, nextSessionId: sessionId });
  return ',' + fields.slice(1);
}

const states = new WeakMap<ScheduleImage, NextSessions>();

/** Returns the state of this thread for a schedule. */
export function nextSessionsOf(schedule: ScheduleImage): NextSessions {
  const known = states.get(schedule);
  if (known !== undefined) return known;
  const state = new NextSessions(schedule);
  states.set(schedule, state);
  return state;
}

/**
 * The next session of every event: the earliest one that starts after a given time. The state is valid for the time
 * of the latest request. For another time, the object advances or goes back by the sessions that start between the
 * two.
 */
export class NextSessions {
  readonly #schedule: ScheduleImage;
  /** By event: row of its next session, or the row past its last session. */
  readonly #next: Uint32Array;
  /** Sessions that have started. */
  #passed = 0;
  /** Time of the latest request, milliseconds since the epoch. */
  #now = -Infinity;

  constructor(schedule: ScheduleImage) {
    this.#schedule = schedule;
    this.#next = schedule.firstOfEvent.slice(0, -1);
  }

  /** Returns the row of an event's next session after `now` (milliseconds since the epoch), or -1. */
  of(event: Row, now: number): Row {
    this.#moveTo(now);
    const next = this.#next[event];
    return next < this.#schedule.firstOfEvent[event + 1] ? next : -1;
  }

  /** Returns the number of sessions started by `now`. While it is unchanged, so are all next sessions. */
  epoch(now: number): number {
    this.#moveTo(now);
    return this.#passed;
  }

  #moveTo(now: number): void {
    if (now === this.#now) return;
    this.#now = now;
    const { starts, startOrder, eventOf } = this.#schedule;
    const instant = BigInt(Math.floor(now)) * 1000n;
    // Both sequences have the sessions of one event in order of start, so a step moves by one row.
    while (this.#passed < startOrder.length && starts[startOrder[this.#passed]] <= instant) {
      const session = startOrder[this.#passed++];
      this.#next[eventOf[session]] = session + 1;
    }
    while (this.#passed > 0 && starts[startOrder[this.#passed - 1]] > instant) {
      const session = startOrder[--this.#passed];
      this.#next[eventOf[session]] = session;
    }
  }
}
