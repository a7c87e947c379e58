import { constants, platform, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { imageBytes, packedImage } from '../../store/memory/image-memory.ts';
import type { OrganizationImage } from '../../store/organization-image.ts';
import { MEGABYTE } from '../admission/memory.ts';
import type { Manifest } from '../format/manifest.ts';
import { RefusedSnapshot } from '../format/refused-snapshot.ts';
import { GIVE_UP, type LoaderMessage, type LoaderTask, UNDECIDED } from './load-snapshot.ts';
import { type OnProgress, readOrganizations } from './read-snapshot.ts';

/** The loader: a thread that reads one snapshot file and ends. Its images are in shared memory, so nothing is copied. */

const { path, isToTellProgress, decision } = workerData as LoaderTask;

/** To copy a larger image takes longer than to hand over its buffers. */
const PACKED_BELOW_BYTES = MEGABYTE;

class GivenUp extends Error {}

giveWay();

try {
  const onProgress = isToTellProgress ? tellProgress : undefined;
  readOrganizations(path, { admit, onProgress }, (organization) => {
    say({ organization: inFewBuffers(organization) });
  });
  say({ isComplete: true });
} catch (error) {
  if (error instanceof RefusedSnapshot) say({ refused: { reason: error.reason, message: error.message } });
  else if (!(error instanceof GivenUp)) throw error;
}

/**
 * Lowers the priority of this thread below that of the threads that answer requests. On Linux a priority is that of the
 * calling thread; elsewhere it would be that of the whole process.
 */
function giveWay(): void {
  if (platform() !== 'linux') return;
  try {
    setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // Where it is forbidden, the load keeps its priority.
  }
}

/** Packs a small image into one buffer, which is handed over fast. */
function inFewBuffers(image: OrganizationImage): OrganizationImage {
  if (image.bytesHeld >= PACKED_BELOW_BYTES) return image;
  const packed = packedImage(image);
  return { ...packed, bytesHeld: imageBytes(packed) };
}

/** Asks whether the content of the declared snapshot is wanted, and waits for the answer. */
function admit(declared: Manifest): void {
  say({ declared });
  Atomics.wait(decision, 0, UNDECIDED);
  if (Atomics.load(decision, 0) === GIVE_UP) throw new GivenUp();
}

function tellProgress(...progress: Parameters<OnProgress>): void {
  say({ progress });
}

function say(message: LoaderMessage): void {
  parentPort?.postMessage(message);
}
