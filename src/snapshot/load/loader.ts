import { constants, platform, setPriority } from 'node:os';
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import type { LoadedImage } from '../../store/organization-image.ts';
import type { Admitted, KnownList } from '../../store/registry/store-view.ts';
import type { Manifest } from '../format/manifest.ts';
import { RefusedSnapshot } from '../format/refused-snapshot.ts';
import type { AdmissionMessage, LoaderData, LoaderMessage, LoaderTask } from './load-snapshot.ts';
import type { Part } from './parts.ts';
import { beginPass, type QueueEnd, type ReaderMessage, take } from './part-queue.ts';
import { loadOrganizations, type OnProgress, readOrganizations } from './read-snapshot.ts';

/** The loader: a thread that loads one snapshot. Its images are in shared memory and are not copied. */

if (parentPort === null) throw new Error('the loader is a thread');
const port = parentPort;
const { admission } = workerData as LoaderData;

lowerPriority();

port.on('message', ({ path, queue, ...task }: LoaderTask) => {
  const onProgress: OnProgress = (...progress) => {
    post({ progress });
  };
  const onOrganization = (organization: LoadedImage) => {
    post({ organization });
  };
  const options = { ...task, admit, onProgress };
  try {
    const { snapshotId, producedAt, unchanged } =
      queue === undefined
        ? readOrganizations(path, options, onOrganization)
        : loadOrganizations(manifestFrom(queue), () => partsFrom(queue), options, onOrganization);
    post({ complete: { snapshotId, producedAt, ...(unchanged && { unchanged }) } });
  } catch (error) {
    if (!(error instanceof RefusedSnapshot)) throw error;
    post({ refused: [error.reason, error.message] });
  }
});

/**
 * Lowers the priority of this thread below that of the workers.
 * Linux sets the priority of the calling thread; other systems would set that of the whole process.
 */
function lowerPriority(): void {
  if (platform() !== 'linux') return;
  try {
    setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // Without the permission, the thread keeps its priority.
  }
}

/** Returns the next message of the reader. Throws if it refuses the file. */
function nextFrom(queue: QueueEnd): ReaderMessage {
  const message = take(queue);
  if ('refused' in message) throw new RefusedSnapshot(...message.refused);
  return message;
}

function manifestFrom(queue: QueueEnd): Manifest {
  const message = nextFrom(queue);
  if ('manifest' in message) return message.manifest;
  throw new Error('the manifest is the first message');
}

/** Returns the content as the reader sends it: whole. It reads ahead while no list is live. */
function* partsFrom(queue: QueueEnd): Generator<Part> {
  beginPass(queue);
  for (;;) {
    const message = nextFrom(queue);
    if ('deletions' in message) yield message;
    else if ('records' in message) {
      const { values, records, ...block } = message;
      yield { ...block, values: asBuffer(values), records: asBuffer(records) };
    }
  }
}

/** Buffers of another thread arrive as plain arrays of bytes. */
function asBuffer({ buffer, byteOffset, length }: Uint8Array<ArrayBuffer>): Buffer<ArrayBuffer> {
  return Buffer.from(buffer, byteOffset, length);
}

/**
 * Declares the snapshot and waits for its admission, which may depend on the bytes of records to copy. A refusal terminates the thread here.
 */
function admit(declared: Manifest, bytesToCopy: (known: readonly KnownList[]) => number): Admitted {
  post({ declared });
  const admitted = receiveAdmission();
  if (admitted.isAdmitted) return admitted;
  post({ declared, bytesToCopy: bytesToCopy(admitted.known) });
  return receiveAdmission();
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
