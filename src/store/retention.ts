import type { RetainedOrganization } from './store-registry.ts';

/** What replaced stores may hold together whatever is live: so that small ones are not let go of early. */
const ALWAYS_ALLOWED_BYTES = 64 * 1024 * 1024;

/**
 * Which of the replaced stores to keep: those that were replaced less than `retainMs` ago, the latest first, as far
 * as they hold no more memory together than what is live.
 *
 * @param now milliseconds of the monotonic clock
 */
export function worthKeeping(
  retained: readonly RetainedOrganization[],
  {
    now,
    retainMs,
    liveBytes,
  }: { readonly now: number; readonly retainMs: number; readonly liveBytes: number },
): Set<RetainedOrganization> {
  const allowed = Math.max(liveBytes, ALWAYS_ALLOWED_BYTES);
  const kept = new Set<RetainedOrganization>();
  let bytes = 0;
  for (const one of retained.toSorted((a, b) => b.replacedAt - a.replacedAt)) {
    bytes += one.store.bytesHeld;
    if (bytes <= allowed && now - one.replacedAt < retainMs) kept.add(one);
  }
  return kept;
}
