import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import type { Admitted, KnownList } from '../../store/registry/store-view.ts';
import type { Manifest } from '../format/manifest.ts';
import { RefusedSnapshot } from '../format/refused-snapshot.ts';
import type { AdmissionMessage, LoaderMessage, LoaderTask, ThreadData } from './load-snapshot.ts';
import { beginPass, lowerPriority, type ReaderMessage, take } from './part-queue.ts';
import { loadOrganizations, type OnProgress } from './read-snapshot.ts';
import type { Part } from './parts.ts';

/** The loader: a thread that loads one snapshot. Its images are in shared memory and are not copied. */

if (parentPort === null) throw new Error('the loader is a thread');
const port = parentPort;
const { queue, admission } = workerData as ThreadData;

lowerPriority();

port.on('message', (task: LoaderTask) => {
  try {
    const message = next();
    if (!('manifest' in message)) throw new Error('the first message is the manifest');
    const { manifest } = message;
    const onProgress: OnProgress = (...progress) => {
      post({ progress });
    };
    loadOrganizations(manifest, parts, { ...task, admit, onProgress }, (organization) => {
      post({ organization });
    });
    post({ complete: { snapshotId: manifest.snapshotId, producedAt: manifest.producedAt } });
  } catch (error) {
    if (!(error instanceof RefusedSnapshot)) throw error;
    post({ refused: [error.reason, error.message] });
  }
});

/** Returns the next message of the reader. Throws if it refuses the file. */
function next(): ReaderMessage {
  const message = take(queue);
  if ('refused' in message) throw new RefusedSnapshot(...message.refused);
  return message;
}

function* parts(): Generator<Part> {
  beginPass(queue);
  for (;;) {
    const message = next();
    if ('deletions' in message) yield message;
    else if ('columns' in message) {
      // Buffers arrive as plain arrays of bytes.
      const columns = Object.entries(message.columns).map(
        ([name, { buffer, byteOffset, length }]) => [name, Buffer.from(buffer, byteOffset, length)] as const,
      );
      yield { columns: Object.fromEntries(columns) };
    }
  }
}

/**
 * Declares the snapshot and waits for its admission, which may depend on the bytes of records to copy. Returns the lists
 * in memory. A refusal terminates the thread here.
 */
function admit(
  declared: Manifest,
  bytesToCopy: (known: readonly KnownList[]) => number,
): readonly KnownList[] {
  post({ declared });
  const { known, isAdmitted } = receiveAdmission();
  if (isAdmitted) return known;
  post({ declared, bytesToCopy: bytesToCopy(known) });
  return receiveAdmission().known;
}

function receiveAdmission(): Admitted {
  Atomics.wait(admission, 0, 0);
  Atomics.store(admission, 0, 0);
  const known: KnownList[] = [];
  for (;;) {
    // `loadSnapshot` sends no other messages.
    const message = receiveMessageOnPort(port)?.message as AdmissionMessage;
    if ('isAdmitted' in message) return { known, ...message };
    known.push(message);
  }
}

function post(message: LoaderMessage): void {
  port.postMessage(message);
}
