/** Start of this thread on the machine's monotonic clock. `performance.now()` counts from it. */
const THREAD_START_MS = Number(process.hrtime.bigint()) / 1e6 - performance.now();

/** Returns the milliseconds of the machine's monotonic clock, which all threads share. */
export function monotonicNow(): number {
  return THREAD_START_MS + performance.now();
}
