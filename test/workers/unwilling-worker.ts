import { parentPort } from 'node:worker_threads';
import type { NumberedCommand, WorkerMessage } from '../../src/workers/protocol.ts';

/** A thread that does every command, but cannot listen: its system cannot share ports. */

const send = (message: WorkerMessage) => parentPort?.postMessage(message);
parentPort?.on('message', ({ number, command }: NumberedCommand) => {
  const failure = { message: 'listen ENOTSUP', code: 'ENOTSUP', syscall: 'listen' };
  send({ done: number, outcome: command.name === 'listen' ? { failure } : {} });
});
send({ isStarted: true });
