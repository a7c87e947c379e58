/** Time from the machine's monotonic clock to that of this thread, which begins with the thread. */
const THREAD_START_MS = Number(process.hrtime.bigint()) / 1e6 - performance.now();

/** Returns the milliseconds of the machine's monotonic clock, which all threads share. */
export function monotonicNow(): number {
  return THREAD_START_MS + performance.now();
}
