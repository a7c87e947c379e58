import { constants, platform, setPriority } from 'node:os';
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { byList, type ListImage, withRuns } from '../../store/organization-image.ts';
import { referenceTo, type SharedRun } from '../../store/records.ts';
import type { KnownContent } from '../../store/registry/store-view.ts';
import type { Manifest } from '../format/manifest.ts';
import { RefusedSnapshot } from '../format/refused-snapshot.ts';
import type { KnownMessage, LoaderMessage, LoaderTask } from './load-snapshot.ts';
import { type OnProgress, readOrganizations } from './read-snapshot.ts';

/** The loader: a thread that reads one snapshot file and exits. Its images are in shared memory and are not copied. */

if (parentPort === null) throw new Error('the loader is a thread');
const port = parentPort;
const { path, isThorough, parsedRuns, admission } = workerData as LoaderTask;
const known = { runs: new Map<string, SharedRun>(), lists: new Map<string, ListImage>() };

lowerPriority();

try {
  const onProgress: OnProgress = (...progress) => {
    post({ progress });
  };
  const options = { admit: awaitAdmission, onProgress, isThorough, parsedRuns };
  const { snapshotId, producedAt } = readOrganizations(path, options, (organization) => {
    const sent = (run: SharedRun) => (known.runs.has(run.key) ? referenceTo(run) : run);
    const lists = byList((name) => withRuns(organization.lists[name], sent));
    post({ organization: { ...organization, lists } });
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

/** Declares the snapshot and waits for its admission. Returns the content in memory. A refusal terminates the thread here. */
function awaitAdmission(declared: Manifest): KnownContent {
  post({ declared });
  Atomics.wait(admission, 0, 0);
  for (;;) {
    const received = receiveMessageOnPort(port);
    if (received === undefined) return known;
    // `loadSnapshot` sends no other messages, and the runs before the lists.
    for (const one of received.message as readonly KnownMessage[]) {
      if ('key' in one) known.runs.set(one.key, one);
      else
        known.lists.set(
          one[0],
          withRuns(one[1], (run) => known.runs.get(run.key) ?? run),
        );
    }
  }
}

function post(message: LoaderMessage): void {
  port.postMessage(message);
}
