import { parentPort } from 'node:worker_threads';
import type { Asked, Told } from '../../src/threads/thread-protocol.ts';

/** A thread that does all that is ordered, but cannot listen: its system cannot share ports. */

const tell = (told: Told) => parentPort?.postMessage(told);
parentPort?.on('message', ({ number, order }: Asked) => {
  const failure = { message: 'listen ENOTSUP', code: 'ENOTSUP', syscall: 'listen' };
  tell({ answered: number, outcome: order.name === 'listen' ? { failure } : {} });
});
tell({ isStarted: true });
