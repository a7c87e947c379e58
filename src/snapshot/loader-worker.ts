import { constants, platform, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import type { OrganizationImage } from '../store/organization-image.ts';
import { GIVE_UP, UNDECIDED } from './loader-protocol.ts';
import type { LoaderMessage, LoaderOrder } from './loader-protocol.ts';
import type { Manifest } from './manifest.ts';
import type { OnProgress } from './read-content.ts';
import { readSnapshot } from './read-snapshot.ts';
import { RefusedSnapshot } from './refused-snapshot.ts';

/** The loader: a thread that reads one snapshot file and ends. Its memory is shared, so that nothing is copied. */

const { path, isToTellProgress, decision } = workerData as LoaderOrder;

class GivenUp extends Error {}

giveWay();

try {
  readSnapshot(path, { admit, onOrganization, onProgress: isToTellProgress ? onProgress : undefined });
  say({ isComplete: true });
} catch (error) {
  if (error instanceof RefusedSnapshot) say({ refused: { reason: error.reason, message: error.message } });
  else if (!(error instanceof GivenUp)) throw error;
}

/**
 * Lets the threads that answer requests go first, where there are not processors enough for all. On Linux a priority is
 * that of the calling thread; elsewhere it would be that of the whole process.
 */
function giveWay(): void {
  if (platform() !== 'linux') return;
  try {
    setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // Where it is forbidden, the load goes on as it would.
  }
}

/** Asks whether the content of what was declared is wanted, and waits for the answer. */
function admit(declared: Manifest): void {
  say({ declared });
  Atomics.wait(decision, 0, UNDECIDED);
  if (Atomics.load(decision, 0) === GIVE_UP) throw new GivenUp();
}

function onOrganization(organization: OrganizationImage): void {
  say({ organization });
}

function onProgress(...progress: Parameters<OnProgress>): void {
  say({ progress });
}

function say(message: LoaderMessage): void {
  parentPort?.postMessage(message);
}
