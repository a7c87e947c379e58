import { parentPort, workerData } from 'node:worker_threads';
import { RefusedSnapshot } from '../format/refused-snapshot.ts';
import { asRefusal, openSnapshot } from '../format/snapshot-file.ts';
import type { ThreadData } from './load-snapshot.ts';
import { awaitPass, lowerPriority, send } from './part-queue.ts';
import { readParts } from './parts.ts';

/** The reader: a thread that reads one snapshot file for the loader, and checks digests, until it is terminated. */

const { queue } = workerData as ThreadData;

lowerPriority();

parentPort?.on('message', (path: string) => {
  try {
    using snapshot = openSnapshot(path);
    send(queue, { manifest: snapshot.manifest });
    for (let passes = 0; ; passes++) {
      awaitPass(queue, passes);
      for (const part of readParts(snapshot)) {
        if ('deletions' in part) send(queue, part);
        else {
          const { columns } = part;
          send(queue, { columns }, [...new Set(Object.values(columns).map(({ buffer }) => buffer))]);
        }
      }
    }
  } catch (error) {
    const refusal = asRefusal(error);
    if (!(refusal instanceof RefusedSnapshot)) throw refusal;
    send(queue, { refused: [refusal.reason, refusal.message] });
  }
});
