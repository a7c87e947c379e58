import { subscribe } from 'node:diagnostics_channel';
import { existsSync, readFileSync, renameSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isMainThread, parentPort, threadId, workerData } from 'node:worker_threads';
import type { NumberedCommand } from '../../src/workers/protocol.ts';

/**
 * Makes the workers of a process identifiable and mortal when preloaded into it. Each response names its worker, and a
 * request header ends the worker. Every second worker receives its messages late, which exposes unsynchronized workers.
 * While the file at FAULT_FILE exists, workers fail at startup. A file beside it, with STEP as suffix, holds the name of a
 * command: the first worker that receives this command ends, and takes the file away.
 */
export const THREAD_HEADER = 'x-thread';
export const DEATH_HEADER = 'x-death';

const DEATHS = {
  'throws an error': () => {
    setImmediate(() => {
      throw new Error('a fault while answering');
    });
  },
  'rejects a promise': () => void Promise.reject(new Error('an unhandled rejection')),
  exits: () => process.exit(7),
  'runs out of memory': () => {
    const hoard: object[] = [];
    for (;;) hoard.push({ some: `text ${hoard.length}` });
  },
} as const;

export type Death = keyof typeof DEATHS;
export const EACH_DEATH = Object.keys(DEATHS) as Death[];

export const STEP = '.step';
const TAKEN = '.taken';

/** Ends this worker when it receives the command that the file names. */
function endAtStep(file: string): void {
  parentPort?.on('message', ({ command }: NumberedCommand) => {
    const { name: step } = command;
    try {
      if (!existsSync(file) || readFileSync(file, 'utf8') !== step) return;
      renameSync(file, file + TAKEN);
    } catch {
      // The other worker has taken it.
      return;
    }
    // One in two steps is an error.
    if (step.length % 2 === 0) throw new Error(`a fault at ${step}`);
    process.exit(7);
  });
}

const DELAY_MS = 15;

function delayMessages(): void {
  if (parentPort === null) return;
  const on = parentPort.on.bind(parentPort);
  const onLate = (name: string, listener: (message: unknown) => void) =>
    on(name, (message: unknown) => setTimeout(listener, DELAY_MS, message));
  Object.defineProperty(parentPort, 'on', { value: onLate });
}

/** Returns whether this thread is a worker: only workers receive shared memory. */
function isWorker(): boolean {
  const given: unknown = workerData;
  return !isMainThread && typeof given === 'object' && given !== null && 'logRing' in given;
}

if (isWorker()) {
  const fault = process.env['FAULT_FILE'] ?? '';
  if (existsSync(fault)) throw new Error('a fault at startup');
  endAtStep(fault + STEP);
  if (threadId % 2 === 0) delayMessages();
  subscribe('http.server.request.start', (message) => {
    const { request, response } = message as { request: IncomingMessage; response: ServerResponse };
    response.setHeader(THREAD_HEADER, threadId);
    const death = request.headers[DEATH_HEADER];
    if (typeof death === 'string') DEATHS[death as Death]();
  });
}
