import { parentPort, workerData } from 'node:worker_threads';
import { readSnapshot } from './read-snapshot.ts';
import { RefusedSnapshot } from './refused-snapshot.ts';
import type { RefusalReason } from './refused-snapshot.ts';

/** A thread that reads one snapshot file, to know whether it is sound, and ends. */

export type VerifyMessage =
  | { readonly progress: readonly [organizationId: string, table: string, rows: number] }
  | { readonly sound: true }
  | { readonly refused: { readonly reason: RefusalReason; readonly message: string } };

try {
  readSnapshot(workerData as string, {
    onProgress: (...progress) => {
      say({ progress });
    },
  });
  say({ sound: true });
} catch (error) {
  if (!(error instanceof RefusedSnapshot)) throw error;
  say({ refused: { reason: error.reason, message: error.message } });
}

function say(message: VerifyMessage): void {
  parentPort?.postMessage(message);
}
