import { parentPort } from 'node:worker_threads';
import type { NumberedCommand, Reply } from '../../src/workers/protocol.ts';

/** A worker that executes every command but `listen`. */

const reply = (message: Reply) => parentPort?.postMessage(message);
parentPort?.on('message', ({ number, command }: NumberedCommand) => {
  const failure = { message: 'listen ENOTSUP', code: 'ENOTSUP', syscall: 'listen' };
  reply({ number, outcome: command.name === 'listen' ? { failure } : {} });
});
reply({ number: 0, outcome: {} });
