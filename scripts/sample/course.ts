import { DAY, HOUR, MINUTE, type Seconds } from './clock.ts';
import type { Random } from './random.ts';

/** Orders are placed until this long before the first session in them; changes are made until an hour later. */
const CLOSING = 2 * HOUR;

export type Outcome = 'pending' | 'fulfilled' | 'cancelled' | 'partly refunded';

/** What became of an order, and when. */
export interface Course {
  readonly outcome: Outcome;
  readonly createdAt: Seconds;
  /** Null while pending. */
  readonly fulfilledAt: Seconds | null;
  /** When it was cancelled or refunded in part; null otherwise. */
  readonly changedAt: Seconds | null;
  /** After the last moment at which anything but admission happened. */
  readonly closedAt: Seconds;
}

/** A course between `openedAt` and the earlier of `reference` and `firstStart`, likelier towards the end. */
export function drawCourse(
  outcome: Outcome,
  { openedAt, reference, firstStart }: { openedAt: Seconds; reference: Seconds; firstStart: Seconds },
  random: Random,
): Course {
  const closing = Math.min(reference, firstStart) - CLOSING;
  const closedAt = closing + HOUR;
  if (outcome === 'pending') {
    const createdAt = Math.max(openedAt, closing - random.below(3 * DAY));
    return { outcome, createdAt, fulfilledAt: null, changedAt: null, closedAt };
  }
  const createdAt = closing - Math.floor((closing - openedAt) * random.fraction() ** 2);
  const fulfilledAt = createdAt + random.between(4, 90);
  const changes = outcome === 'cancelled' || outcome === 'partly refunded';
  const changedAt = changes ? momentAfter(fulfilledAt, closedAt, random) : null;
  return { outcome, createdAt, fulfilledAt, changedAt, closedAt };
}

/** A moment at least a minute after `start` and before `end`, likelier soon. */
export function momentAfter(start: Seconds, end: Seconds, random: Random): Seconds {
  const earliest = start + MINUTE;
  return earliest + Math.floor((end - earliest) * random.fraction() ** 2);
}
