import type { Tally } from '../tally.ts';

const SAMPLE_MS = 50;

/**
 * Watches how late the event loop is, and tells it to the tally: while it is later than `limitMs`, requests wait
 * longer than they are worth. Returns whether it is, and how to end the watch. A limit of 0 means never.
 */
export function watchOverload(
  limitMs: number,
  tally: Tally,
): {
  readonly isOverloaded: () => boolean;
  readonly stop: () => void;
} {
  let last = performance.now();
  let delay = 0;
  const timer = setInterval(() => {
    const now = performance.now();
    // A timer may come a little early.
    delay = Math.max(0, now - last - SAMPLE_MS);
    last = now;
    tally.noteDelay(delay / 1000);
  }, SAMPLE_MS);
  timer.unref();
  return {
    isOverloaded: () => limitMs > 0 && delay > limitMs,
    stop: () => {
      clearInterval(timer);
    },
  };
}
