import { lowerInstantBound } from './index/row-sets.ts';
import type { Row } from './memory/shared-arrays.ts';
import type { ScheduleImage } from './organization-image.ts';

/** Returns the last fields of an event's record: its next session, or nulls. */
export function nextSessionFields(startAt: string | null, sessionId: string | null): string {
  const fields = JSON.stringify({ nextSessionStartAt: startAt, nextSessionId: sessionId });
  return ',' + fields.slice(1);
}

/** Returns the row of the first session of an event after `now` (milliseconds since the epoch), or -1. */
export function nextSession({ starts, firstOfEvent }: ScheduleImage, event: Row, now: number): Row {
  const end = firstOfEvent[event + 1];
  const next = lowerInstantBound(starts, instantAfter(now), firstOfEvent[event], end);
  return next < end ? next : -1;
}

/** Returns the number of sessions started by `now`. While it is unchanged, so are all next sessions. */
export function startedSessions({ startAt }: ScheduleImage, now: number): number {
  return lowerInstantBound(startAt.sorted, instantAfter(now));
}

/** Returns the first microsecond after a time: a session that starts at the time has started. */
function instantAfter(now: number): bigint {
  return BigInt(Math.floor(now)) * 1000n + 1n;
}
