import { setTimeout as delay } from 'node:timers/promises';
import { SNAPSHOT_ID_HEADER } from '../../src/contract/headers.ts';
import { formatCredential } from '../../src/keys/credential.ts';
import { KeysFile } from '../../src/keys/keys-file.ts';
import { Random } from '../sample/random.ts';
import type { SoakContent, Variant } from './content.ts';
import type { Answer, SoakReplica } from './soak-replica.ts';

/** Faults to print. All are counted. */
const PRINTED_FAULTS = 20;

/** The state that all parts of a soak share: the replica, its data, the time, and the findings. */
export class SoakRun {
  readonly replica: SoakReplica;
  readonly data: SoakContent;
  readonly keys: KeysFile;
  /** Valid credentials, by organization id. */
  readonly credentials: ReadonlyMap<string, string>;
  /** Aborted when the time is over. */
  readonly signal: AbortSignal;
  readonly counts = new Map<string, number>();
  #faults = 0;
  readonly #seed: number;
  #parts = 0;
  /** The published snapshots, the latest last, each with the time when it was live. */
  #published: { readonly variant: Variant; liveAt: number }[] = [];

  constructor(replica: SoakReplica, data: SoakContent, seed: number, signal: AbortSignal) {
    this.replica = replica;
    this.data = data;
    this.keys = new KeysFile(replica.keysFile);
    this.#seed = seed;
    this.signal = signal;
    this.credentials = new Map(
      data.variants[0].contents
        .keys()
        .map((id) => [id, formatCredential(this.keys.create(id, '', new Date()))]),
    );
  }

  get faults(): number {
    return this.#faults;
  }

  count(what: string, by = 1): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + by);
  }

  /** Reports a broken promise. */
  fault(what: string): void {
    if (++this.#faults <= PRINTED_FAULTS) console.error(`fault: ${what}`);
  }

  /** Repeats the work of one part until the time is over. An error is a fault. */
  async repeat(part: string, work: (random: Random) => Promise<void>): Promise<void> {
    const random = new Random(this.#seed + ++this.#parts);
    while (!this.signal.aborted) {
      try {
        await work(random);
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

  /** Notes that a snapshot may go live from now on. */
  publishes(variant: Variant): void {
    this.#published = [...this.#published.slice(-9), { variant, liveAt: Infinity }];
  }

  /** Notes that all workers show the latest snapshot. */
  isLive(): void {
    const latest = this.#published.at(-1);
    if (latest !== undefined) latest.liveAt = performance.now();
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
    const live = this.#published.filter(
      (_, i) => (this.#published.at(i + 1)?.liveAt ?? Infinity) >= requestedAt,
    );
    const snapshotId = snapshotIdOf(answer);
    const sources = live
      .map(({ variant }) => variant)
      .filter((variant) => snapshotId === undefined || variant.snapshotId === snapshotId);
    if (sources.length === 0)
      throw new Error(`${answer.status} from snapshot ${String(snapshotId)}, which was not live`);
    return sources;
  }

  /** Returns the snapshot that a response names. */
  sourceOf(answer: Answer): Variant {
    const snapshotId = snapshotIdOf(answer);
    const variant = this.data.variants.find((one) => one.snapshotId === snapshotId);
    if (variant === undefined)
      throw new Error(`${answer.status} from unknown snapshot ${String(snapshotId)}`);
    return variant;
  }
}

/** Returns the id of the snapshot that a response names; undefined for one without, such as a 404. */
export function snapshotIdOf({ headers }: Answer): string | undefined {
  const named = headers[SNAPSHOT_ID_HEADER.toLowerCase()];
  return named === undefined ? undefined : String(named);
}
