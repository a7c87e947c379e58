/** What lies between the clock of this thread, which began with the thread, and that of the machine. */
const THREAD_START_MS = Number(process.hrtime.bigint()) / 1e6 - performance.now();

/** Milliseconds, from some moment on, that never go back; nobody sets this clock, and all threads have the same. */
export function monotonicNow(): number {
  return THREAD_START_MS + performance.now();
}
