import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

/** Loaded into a process before its program: tells the bench, when asked, what only the inside can know. */

export interface ProbeAnswer {
  /** The longest time that the event loop of the main thread was late since it was asked before. */
  readonly longestStallMs: number;
  /** Resident memory of the process. */
  readonly residentBytes: number;
}

/** Milliseconds between two looks. What is recorded is the time between them, so it is taken off. */
const RESOLUTION_MS = 1;

// The threads that the program starts load this, too.
if (isMainThread && process.channel) {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  process.on('message', () => {
    const answer: ProbeAnswer = {
      longestStallMs: Math.max(0, delay.max / 1e6 - RESOLUTION_MS),
      residentBytes: process.memoryUsage.rss(),
    };
    delay.reset();
    process.send?.(answer);
  });
  process.once('disconnect', () => process.exit());
  // The program ends as it would without this.
  process.channel.unref();
}
