import { DateTime } from 'luxon';
import type { Seconds } from './clock.ts';

/** When an event plays, told relative to a reference day so that some events are past and some to come. */
export interface Schedule {
  /** Days from the reference day to the first day on which it may play; negative when that is past. */
  readonly firstDay: number;
  readonly sessions: number;
  /** ISO weekdays on which it plays, 1 for Monday to 7 for Sunday; at least one. */
  readonly weekdays: readonly number[];
  /** Local times, `hh:mm`, ascending. */
  readonly times: readonly string[];
}

/** The starts of the sessions in `zone`, ascending; clocks that change on the way are followed. */
export function sessionStarts(schedule: Schedule, zone: string, reference: Seconds): Seconds[] {
  const starts: Seconds[] = [];
  let date = DateTime.fromSeconds(reference, { zone }).startOf('day').plus({ days: schedule.firstDay });
  while (starts.length < schedule.sessions) {
    if (schedule.weekdays.includes(date.weekday)) {
      for (const time of schedule.times) {
        const [hour, minute] = time.split(':').map(Number);
        starts.push(date.set({ hour, minute }).toSeconds());
      }
    }
    date = date.plus({ days: 1 });
  }
  return starts.slice(0, schedule.sessions);
}
