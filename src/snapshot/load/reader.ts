import { workerData } from 'node:worker_threads';
import { RefusedSnapshot } from '../format/refused-snapshot.ts';
import { openSnapshot } from '../format/open-snapshot.ts';
import { asRefusal } from '../format/snapshot-file.ts';
import { readParts } from './parts.ts';
import { awaitPass, put, type QueueEnd } from './part-queue.ts';
import { SnapshotReader } from './snapshot-reader.ts';

/** The reader: a thread that reads one snapshot file ahead of the loader, and checks digests, until it is terminated. */

export interface FileReaderData {
  readonly path: string;
  readonly queue: QueueEnd;
}

const { path, queue } = workerData as FileReaderData;

try {
  using snapshot = openSnapshot(path);
  const reader = new SnapshotReader(snapshot);
  put(queue, { manifest: snapshot.manifest });
  for (let passes = 0; ; passes++) {
    awaitPass(queue, passes);
    for (const part of readParts(snapshot, reader)) {
      if ('records' in part) put(queue, part, [part.values.buffer, part.records.buffer]);
      else put(queue, part);
    }
  }
} catch (error) {
  const refusal = asRefusal(error);
  if (!(refusal instanceof RefusedSnapshot)) throw refusal;
  put(queue, { refused: [refusal.reason, refusal.message] });
  // Its exit would be a failure of the load before the loader has told the refusal.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)), 0, 0);
}
