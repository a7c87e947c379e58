import type { Row } from './memory/shared-arrays.ts';
import type { SessionsImage } from './organization-image.ts';

/** What ends the record of an event: its next session, or nulls when there is none. */
export function nextSessionFields(startAt: string | null, sessionId: string | null): string {
  const fields = JSON.stringify({ nextSessionStartAt: startAt, nextSessionId: sessionId });
  return ',' + fields.slice(1);
}

/**
 * For every event its next session: the earliest that starts after a moment. It is kept for one moment and
 * moved to the next one asked for by stepping over the session starts between them, in either direction, so
 * that most requests find it as it stands.
 */
export class NextSessions {
  readonly #sessions: SessionsImage;
  /** Row of the next session of each event; the row past its last session when there is none. */
  readonly #next: Uint32Array;
  #passed = 0;
  /** Milliseconds since the epoch between which nothing changes: from the first on, and before the second. */
  #from = -Infinity;
  #until = -Infinity;

  constructor(sessions: SessionsImage) {
    this.#sessions = sessions;
    this.#next = sessions.firstOfEvent.slice(0, -1);
  }

  /** The row of the next session of an event after `now` (milliseconds since the epoch), or -1. */
  of(event: Row, now: number): Row {
    this.#moveTo(now);
    const next = this.#next[event];
    return next < this.#sessions.firstOfEvent[event + 1] ? next : -1;
  }

  /** How many sessions have started by `now`. While it stays, no event's next session changes. */
  epoch(now: number): number {
    this.#moveTo(now);
    return this.#passed;
  }

  #moveTo(now: number): void {
    if (now >= this.#from && now < this.#until) return;
    const { starts, startOrder, eventOf } = this.#sessions;
    const instant = BigInt(Math.floor(now)) * 1000n;
    // Sessions of one event stand in order of their start in both sequences, so a step moves by one row.
    while (this.#passed < startOrder.length && starts[startOrder[this.#passed]] <= instant) {
      const session = startOrder[this.#passed++];
      this.#next[eventOf[session]] = session + 1;
    }
    while (this.#passed > 0 && starts[startOrder[this.#passed - 1]] > instant) {
      const session = startOrder[--this.#passed];
      this.#next[eventOf[session]] = session;
    }
    this.#from = this.#passed === 0 ? -Infinity : millisecondsUp(starts[startOrder[this.#passed - 1]]);
    this.#until =
      this.#passed === startOrder.length ? Infinity : millisecondsUp(starts[startOrder[this.#passed]]);
  }
}

/** The first whole millisecond at or after an instant. As a double the instant itself may be some microseconds off. */
function millisecondsUp(instant: bigint): number {
  const milliseconds = instant / 1000n;
  return Number(milliseconds * 1000n < instant ? milliseconds + 1n : milliseconds);
}
