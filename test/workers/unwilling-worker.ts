import { parentPort } from 'node:worker_threads';
import type { NumberedCommand, WorkerMessage } from '../../src/workers/protocol.ts';

/** A worker that executes every command but `listen`. */

const send = (message: WorkerMessage) => parentPort?.postMessage(message);
parentPort?.on('message', ({ number, command }: NumberedCommand) => {
  const failure = { message: 'listen ENOTSUP', code: 'ENOTSUP', syscall: 'listen' };
  send({ done: number, outcome: command.name === 'listen' ? { failure } : {} });
});
send('started');
