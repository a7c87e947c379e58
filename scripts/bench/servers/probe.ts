import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { readFileSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { getEnvironmentData, isMainThread, setEnvironmentData } from 'node:worker_threads';

/** Loaded into a server process before its program. It measures from inside, and reports to the bench on request. */

export interface ProbeReport {
  /** Threads that have received API requests. */
  readonly threads: number;
  /** Longest delay of the event loop of one of them since the last report. */
  readonly longestStallMs: number;
  /** Most processor time that one of them used between two samples: the part of a stall that is its own work. */
  readonly longestWorkMs: number;
  /** Processor time of the whole process since its start. */
  readonly processorMs: number;
  /** Resident memory of the whole process. */
  readonly residentBytes: number;
  /** Its peak since the last report, on Linux; NaN elsewhere. */
  readonly peakBytes: number;
}

/** Milliseconds between two samples; subtracted from the measured interval. */
const RESOLUTION_MS = 1;
const REQUEST_STARTS = 'http.server.request.start';

/** Name of the counters that all threads of the process share. Times are in microseconds. */
const SHARED = 'foyer-bench-probe';
const THREADS = 0;
const STALL = 1;
const WORK = 2;

// Threads that the program starts load this file as well, and inherit the environment data.
if (isMainThread) setEnvironmentData(SHARED, new Int32Array(new SharedArrayBuffer(12)));
const shared = getEnvironmentData(SHARED);
if (shared instanceof Int32Array) {
  const onRequest = (message: unknown) => {
    const { headers } = (message as { request: IncomingMessage }).request;
    // Requests to the admin port carry no key.
    if (headers.authorization === undefined) return;
    unsubscribe(REQUEST_STARTS, onRequest);
    Atomics.add(shared, THREADS, 1);
    sampleThisThread(shared);
  };
  subscribe(REQUEST_STARTS, onRequest);
  if (isMainThread && process.channel) reportOnRequest(shared);
}

function sampleThisThread(shared: Int32Array): void {
  let sampledAt = performance.now();
  let used = process.threadCpuUsage();
  setInterval(() => {
    const now = performance.now();
    const usedNow = process.threadCpuUsage();
    raise(shared, STALL, (now - sampledAt - RESOLUTION_MS) * 1000);
    raise(shared, WORK, usedNow.user - used.user + usedNow.system - used.system);
    sampledAt = now;
    used = usedNow;
  }, RESOLUTION_MS).unref();
}

/** Raises a value to at least `least`. Other threads may do so at the same time. */
function raise(shared: Int32Array, at: number, least: number): void {
  for (;;) {
    const value = Atomics.load(shared, at);
    if (value >= least || Atomics.compareExchange(shared, at, value, Math.round(least)) === value) return;
  }
}

/** Returns the peak of the resident memory, and begins a new one (https://docs.kernel.org/filesystems/proc.html). */
function takePeak(): number {
  if (process.platform !== 'linux') return NaN;
  const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  writeFileSync('/proc/self/clear_refs', '5');
  return Number(kilobytes) * 1024;
}

function reportOnRequest(shared: Int32Array): void {
  process.on('message', (message) => {
    if (message !== 'report') return;
    const { user, system } = process.cpuUsage();
    const report: ProbeReport = {
      threads: Atomics.load(shared, THREADS),
      longestStallMs: Atomics.exchange(shared, STALL, 0) / 1000,
      longestWorkMs: Atomics.exchange(shared, WORK, 0) / 1000,
      processorMs: (user + system) / 1000,
      residentBytes: process.memoryUsage.rss(),
      peakBytes: takePeak(),
    };
    process.send?.(report);
  });
  process.once('disconnect', () => process.exit());
}
