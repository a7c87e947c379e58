import { DateTime } from 'luxon';

/** Seconds since 1970-01-01T00:00:00Z. Computations use whole seconds; only written timestamps have fractions. */
export type Seconds = number;

export const MINUTE = 60;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

interface Offset {
  readonly seconds: number;
  readonly text: string;
}

/** Writes instants in the local time of a zone. */
export class ZoneClock {
  readonly zone: string;
  /** Offsets by UTC day: one look-up by luxon a day instead of one a timestamp. */
  readonly #offsets = new Map<number, Offset | 'changes'>();

  /** @param zone an identifier of the IANA time zone database */
  constructor(zone: string) {
    this.zone = zone;
  }

  /** Returns ISO 8601 with an offset; `fraction` is '' or a point and digits. */
  write(instant: Seconds, fraction = ''): string {
    const offset = this.#offsetOn(Math.floor(instant / DAY));
    const { seconds, text } = offset === 'changes' ? this.#offsetAt(instant) : offset;
    return isoSeconds(instant + seconds) + fraction + text;
  }

  #offsetOn(day: number): Offset | 'changes' {
    return this.#offsets.getOrInsertComputed(day, () => {
      const first = this.#offsetAt(day * DAY);
      return this.#offsetAt((day + 1) * DAY).seconds === first.seconds ? first : 'changes';
    });
  }

  #offsetAt(instant: Seconds): Offset {
    const local = DateTime.fromSeconds(instant, { zone: this.zone });
    return { seconds: local.offset * MINUTE, text: local.toFormat('ZZ') };
  }
}

const clocks = new Map<string, ZoneClock>();

/** Returns the clock of a zone, the same for all its events. */
export function clockOf(zone: string): ZoneClock {
  return clocks.getOrInsertComputed(zone, () => new ZoneClock(zone));
}

/** Returns ISO 8601 in UTC with `Z`; `fraction` is '' or a point and digits. */
export function writeUtc(instant: Seconds, fraction = ''): string {
  return isoSeconds(instant) + fraction + 'Z';
}

function isoSeconds(instant: Seconds): string {
  return new Date(instant * 1000).toISOString().slice(0, 19);
}

/** The dates of an event's sessions, relative to a reference day. */
export interface Schedule {
  /** Days from the reference day to the first possible day; negative for the past. */
  readonly firstDay: number;
  readonly sessions: number;
  /** ISO weekdays, from 1 for Monday to 7 for Sunday; at least one, such as `67` for weekends. */
  readonly weekdays: string;
  /** Local times, ascending, such as `18:00 21:30`. */
  readonly times: string;
  readonly minutes: number;
}

/** Returns the session starts in a zone, ascending. Local times stay the same across clock changes. */
export function sessionStarts(schedule: Schedule, zone: string, reference: Seconds): Seconds[] {
  const starts: Seconds[] = [];
  let date = DateTime.fromSeconds(reference, { zone }).startOf('day').plus({ days: schedule.firstDay });
  while (starts.length < schedule.sessions) {
    if (schedule.weekdays.includes(String(date.weekday))) {
      for (const time of schedule.times.split(' ')) {
        const [hour, minute] = time.split(':').map(Number);
        starts.push(date.set({ hour, minute }).toSeconds());
      }
    }
    date = date.plus({ days: 1 });
  }
  return starts.slice(0, schedule.sessions);
}
