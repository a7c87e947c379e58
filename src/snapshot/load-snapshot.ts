import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { SnapshotImage } from '../store/organization-image.ts';
import { CorruptSnapshot } from './corrupt-snapshot.ts';
import type { LoaderAnswer } from './loader-worker.ts';

/**
 * Reads a snapshot file on a thread of its own.
 * @throws CorruptSnapshot with the reason, also when the thread itself fails
 */
export async function loadSnapshot(path: string): Promise<SnapshotImage> {
  const loader = new Worker(new URL('./loader-worker.ts', import.meta.url), { workerData: { path } });
  const exited = once(loader, 'exit').then(([code]) => {
    throw new CorruptSnapshot(`the loader ended with code ${String(code)} before it was done`);
  });
  try {
    const [answer] = (await Promise.race([once(loader, 'message'), exited])) as [LoaderAnswer];
    if ('refusal' in answer) throw new CorruptSnapshot(answer.refusal);
    return answer.image;
  } catch (error) {
    throw error instanceof CorruptSnapshot
      ? error
      : new CorruptSnapshot(`the loader failed: ${messageOf(error)}`);
  } finally {
    // Settled before the thread is ended, so that its end is no failure then.
    exited.catch(() => undefined);
    await loader.terminate();
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
