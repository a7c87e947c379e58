import type { OrganizationImage, SnapshotImage } from '../store/organization-image.ts';
import { fileChanged } from './content-file.ts';
import { handover } from './handover.ts';
import { GIVE_UP, READ_ALONE, READ_TOGETHER } from './loader-protocol.ts';
import type { LoaderMessage, LoaderOrder } from './loader-protocol.ts';
import { LoaderThread, loaderFailed } from './loader-thread.ts';
import type { Manifest } from './manifest.ts';
import type { OnProgress } from './read-content.ts';
import { joinParts, PARTS } from './read-organization.ts';
import type { PartImage } from './read-organization.ts';
import { RefusedSnapshot } from './refused-snapshot.ts';
import { isWorthSharing, LEAST_SHARED_BYTES } from './shared-reading.ts';

export interface LoadOptions {
  /** Is told what the file declares before its content is read; what it throws ends the load. */
  readonly admit?: (manifest: Manifest) => void;
  /** Called now and then with how many rows of a table were read so far. */
  readonly onProgress?: OnProgress | undefined;
  /** Ends the load, with its reason thrown. */
  readonly signal?: AbortSignal | undefined;
  /** From how many bytes of records on an organization is read by two threads. */
  readonly leastShared?: number;
}

/**
 * Reads a snapshot file, and checks all of it, on a thread of its own, or on two when it holds a large organization.
 * @throws RefusedSnapshot with the reason, also when a thread itself fails
 */
export async function loadSnapshot(path: string, options: LoadOptions = {}): Promise<SnapshotImage> {
  const { signal } = options;
  signal?.throwIfAborted();
  const load = new Load(path, options);
  const breakOff = () => {
    load.fail(signal?.reason);
  };
  signal?.addEventListener('abort', breakOff);
  try {
    return await load.image;
  } finally {
    signal?.removeEventListener('abort', breakOff);
    await load.end();
  }
}

/** What one of the threads does of an organization that two threads share, and whether it reads those that are not. */
type Share = Pick<LoaderOrder, 'parts' | 'giver' | 'taker' | 'readsOthers'>;

/** Tickets are more than half of the work: whoever reads the rest digests their records, too. */
function shares(): readonly [first: Share, second: Share] {
  const { giver, taker } = handover();
  return [
    { parts: ['tickets'], giver, readsOthers: true },
    { parts: ['orders', 'catalog'], taker, readsOthers: false },
  ];
}

/** What comes of an organization that is shared: its parts, and the digest of records that were handed over. */
const PIECES = PARTS.length + 1;

class Load {
  readonly #options: LoadOptions;
  readonly #order: Omit<LoaderOrder, keyof Share>;
  readonly #shares = shares();
  readonly #loaded = Promise.withResolvers<SnapshotImage>();
  readonly #threads: LoaderThread[] = [];
  #incomplete = 0;
  #declared: Manifest | undefined;
  readonly #images = new Map<string, OrganizationImage>();
  /** Of organizations that two threads share, what came so far. */
  readonly #parts = new Map<string, PartImage[]>();

  constructor(path: string, options: LoadOptions) {
    this.#options = options;
    const decision = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
    const { onProgress, leastShared = LEAST_SHARED_BYTES } = options;
    this.#order = { path, isToTellProgress: onProgress !== undefined, decision, leastShared };
    this.#start(this.#shares[0]);
  }

  get image(): Promise<SnapshotImage> {
    return this.#loaded.promise;
  }

  fail(error: unknown): void {
    this.#loaded.reject(error);
  }

  async end(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.end()));
  }

  #start(share: Share): void {
    this.#incomplete++;
    try {
      const take = (message: LoaderMessage) => {
        this.#take(message);
      };
      this.#threads.push(
        new LoaderThread({ ...this.#order, ...share }, take, (error) => {
          this.fail(error);
        }),
      );
    } catch (error) {
      this.fail(error);
    }
  }

  #take(message: LoaderMessage): void {
    try {
      if ('progress' in message) this.#options.onProgress?.(...message.progress);
      else if ('declared' in message) this.#decide(message.declared);
      else if ('refused' in message) {
        throw new RefusedSnapshot(message.refused.reason, message.refused.message);
      } else if ('isComplete' in message) {
        if (--this.#incomplete === 0) this.#finish();
      } else if ('organization' in message) {
        this.#images.set(message.organization.organizationId, message.organization);
      } else this.#join(message.organizationId, message.part);
    } catch (error) {
      this.fail(error);
    }
  }

  #decide(declared: Manifest): void {
    if (this.#declared !== undefined) {
      // The second thread opened the file for itself: by then another may have taken its place.
      if (this.#declared.snapshotId === declared.snapshotId) return;
      throw fileChanged();
    }
    this.#declared = declared;
    try {
      this.#options.admit?.(declared);
    } catch (error) {
      this.#say(GIVE_UP);
      throw error;
    }
    const isTogether = isWorthSharing(declared.organizations, this.#order.leastShared);
    if (isTogether) this.#start(this.#shares[1]);
    this.#say(isTogether ? READ_TOGETHER : READ_ALONE);
  }

  #say(decision: number): void {
    Atomics.store(this.#order.decision, 0, decision);
    Atomics.notify(this.#order.decision, 0);
  }

  #join(organizationId: string, part: PartImage): void {
    const parts = [...(this.#parts.get(organizationId) ?? []), part];
    this.#parts.set(organizationId, parts);
    if (parts.length < PIECES) return;
    this.#parts.delete(organizationId);
    const organization = this.#declared?.organizations.find((one) => one.organizationId === organizationId);
    if (organization === undefined) throw loaderFailed('it read what it did not declare');
    this.#images.set(organizationId, joinParts(organization, parts));
  }

  #finish(): void {
    if (this.#declared === undefined) throw loaderFailed('it did not say what it reads');
    const { snapshotId, producedAt } = this.#declared;
    const organizations = this.#declared.organizations.map(({ organizationId }) => {
      const image = this.#images.get(organizationId);
      if (image === undefined) throw loaderFailed('it did not read all that it declared');
      return image;
    });
    this.#loaded.resolve({ snapshotId, producedAt, organizations });
  }
}
