const SAMPLE_MS = 50;

/**
 * Watches how late the event loop is: while it is later than `limitMs`, requests wait longer than they are worth.
 * Returns whether it is, and how to end the watch. A limit of 0 means never.
 */
export function watchOverload(limitMs: number): {
  readonly isOverloaded: () => boolean;
  readonly stop: () => void;
} {
  if (limitMs === 0) return { isOverloaded: () => false, stop: () => undefined };
  let last = performance.now();
  let delay = 0;
  const timer = setInterval(() => {
    const now = performance.now();
    delay = now - last - SAMPLE_MS;
    last = now;
  }, SAMPLE_MS);
  timer.unref();
  return {
    isOverloaded: () => delay > limitMs,
    stop: () => {
      clearInterval(timer);
    },
  };
}
