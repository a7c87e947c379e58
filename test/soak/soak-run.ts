import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { Random } from '../../scripts/sample/random.ts';
import { SNAPSHOT_ID_HEADER } from '../../src/contract/headers.ts';
import { PREVIEW, VERSION_HEADER } from '../../src/contract/releases.ts';
import { inspectSnapshot } from '../../src/snapshot/format/open-snapshot.ts';
import { alteredCopy, asSnapshot } from '../support/altered-snapshot.ts';
import { type Connection, MORTAL } from '../support/connections.ts';
import { Oracle } from '../support/oracle/oracle.ts';
import {
  type Organization,
  randomIdPools,
  randomOrganization,
} from '../support/oracle/random-organization.ts';
import { buildWorld } from '../support/oracle/random-snapshot.ts';
import { type Answer, newCredential, ReplicaUnderTest } from '../support/replica-under-test.ts';
import type { InFolder } from '../support/temporary-folder.ts';

export const THREADS = 2;
const POLL_SECONDS = 0.5;

const ORGANIZATIONS = ['north', 'south', 'east'];
const VARIANTS = 4;
/** Number of events in the pools that the organizations draw from. */
const SIZE = 60;
/** Share of the pools that each organization has. */
const SHARE = 0.9;

/** Faults to print. All are counted. */
const PRINTED_FAULTS = 20;
/** Longest time of a piece of work, which takes seconds on a machine that is not busy. */
const TIMEOUT_MS = 60_000;

/** Time for which a client leaves its connection idle, at most. */
const IDLE_MS = 1000;

/** A snapshot file, and its records by organization id. */
export interface Variant {
  readonly path: string;
  readonly snapshotId: string;
  readonly organizations: ReadonlyMap<string, Content>;
}

interface Content {
  readonly records: Organization;
  readonly oracle: Oracle;
}

export function contentOf({ organizations }: Variant, organizationId: string): Content {
  const content = organizations.get(organizationId);
  if (content === undefined) throw new Error(`no organization ${organizationId}`);
  return content;
}

/** The state that all parts of a soak share: the replica, its data, the time, and the findings. */
export class SoakRun {
  readonly inFolder: InFolder;
  readonly replica: ReplicaUnderTest;
  readonly variants: readonly Variant[];
  /** A snapshot file that is older. */
  readonly older: string;
  /** Valid credentials, by organization id. */
  readonly credentials: ReadonlyMap<string, string>;
  /** Aborted when the time is over. */
  readonly signal: AbortSignal;
  readonly counts = new Map<string, number>();
  /** Times of the monotonic clock: when a worker was last ended, and when its replacement listened. */
  endedAt = -Infinity;
  replacedAt = 0;
  faults = 0;
  readonly #seed: number;
  #parts = 0;
  /** The published snapshots, the latest last, each with the time when it was live. */
  #published: { readonly variant: Variant; liveAt: number }[] = [];

  /** @param variants snapshots of the same age, so that each may replace each other */
  constructor(
    inFolder: InFolder,
    replica: ReplicaUnderTest,
    variants: readonly Variant[],
    seed: number,
    signal: AbortSignal,
  ) {
    this.inFolder = inFolder;
    this.replica = replica;
    this.variants = variants;
    this.older = alteredCopy(variants[0].path, inFolder('older'), asSnapshot(1));
    this.credentials = new Map(ORGANIZATIONS.map((id) => [id, newCredential(inFolder, id)]));
    this.#seed = seed;
    this.signal = signal;
  }

  count(what: string, by = 1): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + by);
  }

  /** Reports a broken promise. */
  fault(what: string): void {
    if (++this.faults <= PRINTED_FAULTS) console.error(`fault: ${what}`);
  }

  /** Repeats the work of one part until the time is over. An error is a fault, and so is work that does not end. */
  async repeat(part: string, work: (random: Random) => Promise<void>): Promise<void> {
    const random = new Random(this.#seed + ++this.#parts);
    const timeout = async () => {
      await once(AbortSignal.timeout(TIMEOUT_MS), 'abort');
      throw new Error(`not done after ${TIMEOUT_MS} ms`);
    };
    while (!this.signal.aborted) {
      try {
        await Promise.race([work(random), timeout()]);
      } catch (error) {
        this.fault(`${part}: ${error instanceof Error ? error.message : String(error)}`);
        await this.pause(1000);
      }
    }
  }

  /** Waits, at most until the time is over. */
  async pause(milliseconds: number): Promise<void> {
    await delay(milliseconds, undefined, { signal: this.signal }).catch(() => undefined);
  }

  /**
   * Sends a request. Repeats it when the connection was lost with its worker.
   * @throws the error of the connection, in any other case
   */
  async ask(
    connection: Connection,
    target: string,
    credential: string,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer> {
    for (;;) {
      // The connection of an earlier request may have been lost since then.
      const since = performance.now() - IDLE_MS;
      try {
        this.count('requests');
        return await connection.ask(target, credential, { [VERSION_HEADER]: PREVIEW, ...headers });
      } catch (error) {
        if (this.replacedAt > this.endedAt && this.replacedAt < since) throw error;
        this.count('connections lost with a worker');
        await delay(10);
      }
    }
  }

  /** Notes that a snapshot may go live from now on. Returns a function that notes that all workers serve it. */
  publishes(variant: Variant): () => void {
    const published = { variant, liveAt: Infinity };
    this.#published = [...this.#published.slice(-9), published];
    return () => (published.liveAt = performance.now());
  }

  /** The snapshot that was published last. */
  get latest(): Variant | undefined {
    return this.#published.at(-1)?.variant;
  }

  /**
   * Returns the snapshots that a response may be from: each that was live at some time since the request. Most responses
   * name theirs.
   * @throws when the named one was not live
   */
  sourcesOf(answer: Answer, requestedAt: number): Variant[] {
    const snapshotId = snapshotIdOf(answer);
    const sources = this.#published
      .filter((_, i) => (this.#published.at(i + 1)?.liveAt ?? Infinity) >= requestedAt)
      .map(({ variant }) => variant)
      .filter((variant) => snapshotId === undefined || variant.snapshotId === snapshotId);
    if (sources.length === 0)
      throw new Error(`${answer.status} from snapshot ${String(snapshotId)}, which was not live`);
    return sources;
  }

  /** Returns the snapshot that a response names. */
  sourceOf(answer: Answer): Variant {
    const snapshotId = snapshotIdOf(answer);
    const variant = this.variants.find((one) => one.snapshotId === snapshotId);
    if (variant === undefined)
      throw new Error(`${answer.status} from unknown snapshot ${String(snapshotId)}`);
    return variant;
  }
}

/** Returns the id of the snapshot that a response names; undefined for one without, such as a 404. */
export function snapshotIdOf({ headers }: Answer): string | undefined {
  return headers[SNAPSHOT_ID_HEADER.toLowerCase()]?.toString();
}

/** Builds the snapshots of a soak. */
export async function buildVariants(inFolder: InFolder, seed: number): Promise<Variant[]> {
  const random = new Random(seed);
  const variants: Variant[] = [];
  for (let i = 0; i < VARIANTS; i++) {
    const path = inFolder(`variant-${i}`);
    const pools = randomIdPools(random, SIZE);
    const organizations = ORGANIZATIONS.map((id) => randomOrganization(random, id, pools, SHARE));
    await buildWorld(random, organizations, path);
    const contents = organizations.map((records) => ({ records, oracle: new Oracle(records) }));
    const byId = new Map(contents.map((content) => [content.records.organizationId, content]));
    variants.push({ path, snapshotId: inspectSnapshot(path).snapshotId, organizations: byId });
  }
  return variants;
}

/** Starts a replica without a snapshot, with workers that a request header can end. */
export function startReplica(inFolder: InFolder): Promise<ReplicaUnderTest> {
  return ReplicaUnderTest.start(inFolder, {
    THREADS: String(THREADS),
    SNAPSHOT_POLL_SECONDS: String(POLL_SECONDS),
    NODE_OPTIONS: MORTAL,
  });
}
