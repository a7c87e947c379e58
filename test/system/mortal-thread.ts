import { subscribe } from 'node:diagnostics_channel';
import { existsSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isMainThread, parentPort, threadId, workerData } from 'node:worker_threads';

/**
 * Preloaded into a process, has its threads tell in each answer who they are, and end when a request asks them to. Every
 * second thread hears late what it is told, so that what is not in step shows. While the file that FAULT_FILE names is
 * there, threads that answer requests end at their start.
 */
export const THREAD_HEADER = 'x-thread';
export const DEATH_HEADER = 'x-death';

const DEATHS = {
  'throws an error': () => {
    setImmediate(() => {
      throw new Error('a fault while answering');
    });
  },
  'rejects a promise': () => void Promise.reject(new Error('a promise that nobody looks at')),
  exits: () => process.exit(7),
  'runs out of memory': () => {
    const hoard: object[] = [];
    for (;;) hoard.push({ some: `text ${hoard.length}` });
  },
} as const;

export type Death = keyof typeof DEATHS;
export const EACH_DEATH = Object.keys(DEATHS) as Death[];

const LATE_MS = 15;

function hearLate(): void {
  if (parentPort === null) return;
  const on = parentPort.on.bind(parentPort);
  const late = (name: string, listener: (message: unknown) => void) =>
    on(name, (message: unknown) => setTimeout(listener, LATE_MS, message));
  Object.defineProperty(parentPort, 'on', { value: late });
}

/** Those that answer requests are given memory to share. */
function isAnsweringThread(): boolean {
  const given: unknown = workerData;
  return !isMainThread && typeof given === 'object' && given !== null && 'memory' in given;
}

if (isAnsweringThread()) {
  if (existsSync(process.env['FAULT_FILE'] ?? '')) throw new Error('a fault at the start');
  if (threadId % 2 === 0) hearLate();
  subscribe('http.server.request.start', (message) => {
    const { request, response } = message as { request: IncomingMessage; response: ServerResponse };
    response.setHeader(THREAD_HEADER, threadId);
    const death = request.headers[DEATH_HEADER];
    if (typeof death === 'string') DEATHS[death as Death]();
  });
}
