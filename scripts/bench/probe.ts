import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

/** Loaded into a process before its program: tells the bench, when asked, what only the inside can know. */

export interface ProbeAnswer {
  /** The longest time that the event loop of the main thread was late since it was asked before. */
  readonly longestStallMs: number;
  /** The most processor time that the main thread used between two looks: what of a stall is its own. */
  readonly longestWorkMs: number;
  /** Resident memory of the process. */
  readonly residentBytes: number;
}

/** Milliseconds between two looks. What is recorded is the time between them, so it is taken off. */
const RESOLUTION_MS = 1;

// The threads that the program starts load this, too.
if (isMainThread && process.channel) {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  let usage = process.threadCpuUsage();
  let longestWorkMs = 0;
  setInterval(() => {
    const { user, system } = process.threadCpuUsage(usage);
    usage = process.threadCpuUsage();
    longestWorkMs = Math.max(longestWorkMs, (user + system) / 1000);
  }, RESOLUTION_MS).unref();
  process.on('message', () => {
    const answer: ProbeAnswer = {
      longestStallMs: Math.max(0, delay.max / 1e6 - RESOLUTION_MS),
      longestWorkMs,
      residentBytes: process.memoryUsage.rss(),
    };
    delay.reset();
    longestWorkMs = 0;
    process.send?.(answer);
  });
  process.once('disconnect', () => process.exit());
  // The program ends as it would without this.
  process.channel.unref();
}
