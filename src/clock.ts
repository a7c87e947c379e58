/** Offset of the clock of this thread, which starts with the thread, from the clock of the machine. */
const THREAD_START_MS = Number(process.hrtime.bigint()) / 1e6 - performance.now();

/** Returns the milliseconds of the machine's monotonic clock, the same in all threads. */
export function monotonicNow(): number {
  return THREAD_START_MS + performance.now();
}
