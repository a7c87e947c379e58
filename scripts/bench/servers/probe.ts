import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';
import { getEnvironmentData, isMainThread, setEnvironmentData } from 'node:worker_threads';

/** Loaded into a process before its program: tells the bench, when asked, what only the inside can know. */

export interface ProbeAnswer {
  /** Threads that have answered requests of the API. */
  readonly threads: number;
  /** The longest time that the event loop of one of them was late, since it was asked before. */
  readonly longestStallMs: number;
  /** The most processor time that one of them used between two looks: what of a stall is its own. */
  readonly longestWorkMs: number;
  /** Processor time of the whole process since its start. */
  readonly processorMs: number;
  /** Resident memory of the whole process. */
  readonly residentBytes: number;
}

/** Milliseconds between two looks. What is recorded is the time between them, so it is taken off. */
const RESOLUTION_MS = 1;
const REQUEST_STARTS = 'http.server.request.start';

/** What all threads of the process tell of themselves. Times are in microseconds. */
const SHARED = 'foyer-bench-probe';
const THREADS = 0;
const STALL = 1;
const WORK = 2;

// The threads that the program starts load this, too, and have this data.
if (isMainThread) setEnvironmentData(SHARED, new Int32Array(new SharedArrayBuffer(12)));
const shared = getEnvironmentData(SHARED);
if (shared instanceof Int32Array) {
  const begin = (message: unknown) => {
    const { headers } = (message as { request: IncomingMessage }).request;
    // The port for operators is asked without a key.
    if (headers.authorization === undefined) return;
    unsubscribe(REQUEST_STARTS, begin);
    Atomics.add(shared, THREADS, 1);
    watchThisThread(shared);
  };
  subscribe(REQUEST_STARTS, begin);
  if (isMainThread && process.channel) tellWhenAsked(shared);
}

function watchThisThread(shared: Int32Array): void {
  let lookedAt = performance.now();
  let used = process.threadCpuUsage();
  setInterval(() => {
    const now = performance.now();
    const usedNow = process.threadCpuUsage();
    raise(shared, STALL, (now - lookedAt - RESOLUTION_MS) * 1000);
    raise(shared, WORK, usedNow.user - used.user + usedNow.system - used.system);
    lookedAt = now;
    used = usedNow;
  }, RESOLUTION_MS).unref();
}

/** Makes a value at least `least`, though others may do so at the same moment. */
function raise(shared: Int32Array, at: number, least: number): void {
  for (;;) {
    const value = Atomics.load(shared, at);
    if (value >= least || Atomics.compareExchange(shared, at, value, Math.round(least)) === value) return;
  }
}

function tellWhenAsked(shared: Int32Array): void {
  process.on('message', () => {
    const { user, system } = process.cpuUsage();
    const answer: ProbeAnswer = {
      threads: Atomics.load(shared, THREADS),
      longestStallMs: Atomics.exchange(shared, STALL, 0) / 1000,
      longestWorkMs: Atomics.exchange(shared, WORK, 0) / 1000,
      processorMs: (user + system) / 1000,
      residentBytes: process.memoryUsage.rss(),
    };
    process.send?.(answer);
  });
  process.once('disconnect', () => process.exit());
  // The program ends as it would without this.
  process.channel?.unref();
}
