import { DAY, HOUR, MINUTE, type Seconds } from './clock.ts';
import type { Random } from './random.ts';

/** Sales close this long before the first session of an order; changes close an hour later. */
const CLOSING = 2 * HOUR;

export type Outcome = 'pending' | 'fulfilled' | 'cancelled' | 'partly refunded';

/** The outcome of an order and the times of its changes. */
export interface OrderTimeline {
  readonly outcome: Outcome;
  readonly createdAt: Seconds;
  /** Null while pending. */
  readonly fulfilledAt: Seconds | null;
  /** Time of the cancellation or partial refund; null otherwise. */
  readonly changedAt: Seconds | null;
  /** End of all changes except admission. */
  readonly closedAt: Seconds;
}

/** Draws a timeline between `openedAt` and the earlier of `reference` and `firstStart`, more often late. */
export function drawTimeline(
  outcome: Outcome,
  { openedAt, reference, firstStart }: { openedAt: Seconds; reference: Seconds; firstStart: Seconds },
  random: Random,
): OrderTimeline {
  const closing = Math.min(reference, firstStart) - CLOSING;
  const closedAt = closing + HOUR;
  if (outcome === 'pending') {
    const createdAt = Math.max(openedAt, closing - random.below(3 * DAY));
    return { outcome, createdAt, fulfilledAt: null, changedAt: null, closedAt };
  }
  const createdAt = closing - Math.floor((closing - openedAt) * random.fraction() ** 2);
  const fulfilledAt = createdAt + random.between(4, 90);
  const changes = outcome === 'cancelled' || outcome === 'partly refunded';
  const changedAt = changes ? timeAfter(fulfilledAt, closedAt, random) : null;
  return { outcome, createdAt, fulfilledAt, changedAt, closedAt };
}

/** Draws a time at least a minute after `start` and before `end`, more often early. */
export function timeAfter(start: Seconds, end: Seconds, random: Random): Seconds {
  const earliest = start + MINUTE;
  return earliest + Math.floor((end - earliest) * random.fraction() ** 2);
}
