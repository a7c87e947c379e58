import { constants, platform, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { imageBytes } from '../store/image-bytes.ts';
import type { OrganizationImage } from '../store/organization-image.ts';
import { packedImage } from '../store/packed-image.ts';
import { digestGrowing } from './growing-records.ts';
import type { GrowingRecords } from './growing-records.ts';
import { give, take } from './handover.ts';
import { GIVE_UP, READ_TOGETHER, UNDECIDED } from './loader-protocol.ts';
import type { LoaderMessage, LoaderOrder } from './loader-protocol.ts';
import type { Manifest } from './manifest.ts';
import { MEGABYTE } from './memory-limit.ts';
import type { OnProgress } from './read-content.ts';
import { readOrganization, readPart } from './read-organization.ts';
import { readOrganizations } from './read-snapshot.ts';
import { RefusedSnapshot } from './refused-snapshot.ts';
import { isShared } from './shared-reading.ts';

/** The loader: a thread that reads one snapshot file, or its part of one, and ends. Its memory is shared, so that nothing is copied. */

const { path, isToTellProgress, decision, parts, giver, taker, readsOthers, leastShared } =
  workerData as LoaderOrder;
const onProgress = isToTellProgress ? tellProgress : undefined;

/** To copy a larger image takes longer than to hand over its buffers. */
const PACKED_BELOW_BYTES = MEGABYTE;

const digester =
  giver &&
  ((records: GrowingRecords) => {
    give(giver, records);
  });
/** Of how many organizations the records were taken from the other thread. */
let digested = 0;

class GivenUp extends Error {}

giveWay();

try {
  readOrganizations(path, admit, (file, organization) => {
    const { organizationId } = organization;
    if (Atomics.load(decision, 0) === READ_TOGETHER && isShared(organization, leastShared)) {
      for (const part of parts)
        say({ organizationId, part: readPart(file, organization, part, onProgress, digester) });
      if (taker !== undefined) {
        const tables = digestGrowing(take(taker, digested++));
        say({ organizationId, part: { tables, content: {} } });
      }
    } else if (readsOthers) {
      say({ organization: inFewBuffers(readOrganization(file, organization, onProgress)) });
    }
  });
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

/** A small image in one buffer, which is quickly handed over. */
function inFewBuffers(image: OrganizationImage): OrganizationImage {
  if (image.bytesHeld >= PACKED_BELOW_BYTES) return image;
  const packed = packedImage(image);
  return { ...packed, bytesHeld: imageBytes(packed) };
}

/** Asks whether the content of what was declared is wanted, and waits for the answer. */
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
