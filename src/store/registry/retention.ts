import { lastUseOf } from '../organization-image.ts';
import type { RetainedSection } from './store-view.ts';

/** The times for which a replaced section is retained at most. */
export interface Retention {
  /** Since its last use. */
  readonly snapshotRetainSeconds: number;
  /** Since its replacement, however often it is used. */
  readonly snapshotRetainMaxSeconds: number;
  /** Since its replacement, without a use. */
  readonly snapshotRetainUnwalkedSeconds: number;
}

/**
 * Returns the end of the retention of a section without a further use.
 * @param now milliseconds of the monotonic clock, as the result
 */
export function endOfRetention(
  { image, replacedAt }: RetainedSection,
  { snapshotRetainSeconds, snapshotRetainMaxSeconds, snapshotRetainUnwalkedSeconds }: Retention,
  now: number,
): number {
  const lastUse = lastUseOf(image, now);
  const end =
    lastUse === 0
      ? replacedAt + snapshotRetainUnwalkedSeconds * 1000
      : lastUse + snapshotRetainSeconds * 1000;
  return Math.min(end, replacedAt + snapshotRetainMaxSeconds * 1000);
}

/**
 * Sorts sections in the order in which they are retained when memory is short: in rounds. A round has the latest used
 * section of each organization that the rounds before it lack, so that the walks of one organization over many snapshots
 * do not end those of another. Sections without a use are last.
 * @param now milliseconds of the monotonic clock
 */
export function latestUsedFirst(retained: readonly RetainedSection[], now: number): RetainedSection[] {
  // Read once, since a use during the sort would change the order.
  const uses = new Map(retained.map((one) => [one, lastUseOf(one.image, now)]));
  const useOf = (one: RetainedSection) => uses.get(one) ?? 0;
  const counts = new Map<string, number>();
  const rounds = Map.groupBy(
    retained.toSorted((a, b) => useOf(b) - useOf(a)),
    (one) => {
      const round = counts.get(one.organizationId) ?? 0;
      counts.set(one.organizationId, round + 1);
      return useOf(one) === 0 ? Infinity : round;
    },
  );
  return [...rounds.values()].flat();
}
