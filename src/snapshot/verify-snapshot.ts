import { Worker } from 'node:worker_threads';
import type { OnProgress } from './read-content.ts';
import { RefusedSnapshot } from './refused-snapshot.ts';
import type { VerifyMessage } from './verify-worker.ts';

/**
 * Checks all that is checked before a snapshot goes live, on a thread of its own, so that whoever waits can break off.
 * It takes the memory that the snapshot takes when it is served.
 *
 * @param signal ends it, with its reason thrown
 * @throws RefusedSnapshot
 */
export async function verifySnapshot(
  path: string,
  onProgress: OnProgress,
  signal: AbortSignal | undefined,
): Promise<void> {
  signal?.throwIfAborted();
  const verdict = Promise.withResolvers<undefined>();
  const worker = new Worker(new URL('./verify-worker.ts', import.meta.url), { workerData: path });
  worker.on('message', (message: VerifyMessage) => {
    if ('progress' in message) onProgress(...message.progress);
    else if ('sound' in message) verdict.resolve(undefined);
    else verdict.reject(new RefusedSnapshot(message.refused.reason, message.refused.message));
  });
  worker.on('error', verdict.reject);
  worker.on('exit', (code) => {
    verdict.reject(new Error(`the thread that verifies ended with code ${code} before it was done`));
  });
  const breakOff = () => {
    verdict.reject(signal?.reason);
  };
  signal?.addEventListener('abort', breakOff);
  try {
    await verdict.promise;
  } finally {
    signal?.removeEventListener('abort', breakOff);
    await worker.terminate();
  }
}
