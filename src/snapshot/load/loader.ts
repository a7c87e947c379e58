import { constants, platform, setPriority } from 'node:os';
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import type { Admitted, KnownList } from '../../store/registry/store-view.ts';
import type { Manifest } from '../format/manifest.ts';
import { RefusedSnapshot } from '../format/refused-snapshot.ts';
import type { AdmissionMessage, LoaderMessage, LoaderTask } from './load-snapshot.ts';
import { type OnProgress, readOrganizations } from './read-snapshot.ts';

/** The loader: a thread that reads one snapshot file and exits. Its images are in shared memory and are not copied. */

if (parentPort === null) throw new Error('the loader is a thread');
const port = parentPort;
const { path, isThorough, parsedRuns, admission } = workerData as LoaderTask;

lowerPriority();

try {
  const onProgress: OnProgress = (...progress) => {
    post({ progress });
  };
  const options = { admit, onProgress, isThorough, parsedRuns };
  const { snapshotId, producedAt } = readOrganizations(path, options, (organization) => {
    post({ organization });
  });
  post({ complete: { snapshotId, producedAt } });
} catch (error) {
  if (!(error instanceof RefusedSnapshot)) throw error;
  post({ refused: [error.reason, error.message] });
}

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
