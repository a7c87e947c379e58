import { monotonicNow } from '../../clock.ts';
import { promptGarbageCollection } from '../memory/image-memory.ts';
import type { OrganizationImage, SnapshotImage } from '../organization-image.ts';
import { OrganizationStore } from '../organization-store.ts';
import { newServedDigests, noteServed } from './served-digests.ts';
import { EMPTY_VIEW, StoreView } from './store-view.ts';
import { MEGABYTE } from '../memory/shared-arrays.ts';

/** The store that serves an organization. */
export interface LiveStore {
  readonly store: OrganizationStore;
  /** The snapshot file that the store was loaded from. */
  readonly file: string;
  /** Whether that file still exists. If not, another file may serve the organization. */
  readonly isFilePresent: boolean;
}

/** A replaced store, retained for the walks that began on it. */
export interface RetainedStore {
  readonly store: OrganizationStore;
  readonly file: string;
  /** Milliseconds of the monotonic clock. */
  readonly replacedAt: number;
}

/** The live organization stores, and the replaced ones that are retained for walks. */
export class StoreRegistry {
  readonly #served;
  readonly #clock;
  #live: ReadonlyMap<string, LiveStore> = new Map();
  /** By organization: the latest production time that was live. */
  readonly #latestInstants = new Map<string, bigint>();
  /** By organization, the latest replaced first. */
  #retained: ReadonlyMap<string, readonly RetainedStore[]> = new Map();
  #view = EMPTY_VIEW;

  /**
   * @param served of `newServedDigests`; notes the content that is no longer live
   * @param clock milliseconds of the monotonic clock
   */
  constructor(served = newServedDigests(), clock = monotonicNow) {
    this.#served = served;
    this.#clock = clock;
  }

  /** The stores that requests can reach now. */
  get view(): StoreView {
    return this.#view;
  }

  /** By organization. */
  get live(): ReadonlyMap<string, LiveStore> {
    return this.#live;
  }

  get liveBytes(): number {
    return this.#live.values().reduce((sum, { store }) => sum + store.bytesHeld, 0);
  }

  get retained(): readonly RetainedStore[] {
    return [...this.#retained.values()].flat();
  }

  /** Bytes that no live store shares: retained content differs from live content. */
  get retainedBytes(): number {
    return sumOfBytes(this.retained);
  }

  /** Returns another existing file that serves an organization. */
  otherOwner(file: string, organizationId: string): string | undefined {
    const owner = this.#live.get(organizationId);
    return owner !== undefined && owner.isFilePresent && owner.file !== file ? owner.file : undefined;
  }

  /** Records that a file no longer exists. Its organizations stay live until another file serves them. */
  markFileRemoved(file: string): void {
    this.#live = new Map(
      this.#live
        .entries()
        .map(([id, entry]) => [id, entry.file === file ? { ...entry, isFilePresent: false } : entry]),
    );
  }

  /**
   * Replaces the organizations of a file by those of its new snapshot, in one step. Unchanged content keeps its image.
   * All replaced stores are retained: until every worker shows the new view, workers may send links to them (see
   * `releaseUnwalked`).
   * @throws Error, and changes nothing, when another file serves one of the organizations; the admission refuses
   * these
   */
  swap(file: string, snapshot: SnapshotImage): void {
    const arrived = new Set(snapshot.organizations.map(({ content }) => content.organizationId));
    for (const organizationId of arrived) {
      if (this.otherOwner(file, organizationId) === undefined) continue;
      throw new Error(`${file}: organization "${organizationId}" is served from another file`);
    }
    const live = new Map(this.#live);
    const retained = new Map(this.#retained);
    for (const [organizationId, { store, file: owner }] of this.#live) {
      if (owner !== file || arrived.has(organizationId)) continue;
      noteServed(this.#served, organizationId, store.contentDigest);
      live.delete(organizationId);
      retained.delete(organizationId);
    }
    const replacedAt = this.#clock();
    const { snapshotId, producedAt } = snapshot;
    for (const { content, history } of snapshot.organizations) {
      const { organizationId, contentDigest } = content;
      const replaced = live.get(organizationId);
      const known: RetainedStore[] = [...(retained.get(organizationId) ?? [])];
      if (replaced !== undefined) known.unshift({ store: replaced.store, file: replaced.file, replacedAt });
      const same = known.find(({ store }) => store.contentDigest === contentDigest)?.store;
      const latest = this.#latestInstants.get(organizationId) ?? history.until;
      const latestInstant = history.until > latest ? history.until : latest;
      this.#latestInstants.set(organizationId, latestInstant);
      const origin = { snapshotId, producedAt, latestInstant };
      const store = new OrganizationStore(same?.image ?? content, history, origin, same?.walks);
      live.set(organizationId, { store, file, isFilePresent: true });
      const left = known.filter((one) => one.store !== same);
      for (const one of left) noteServed(this.#served, organizationId, one.store.contentDigest);
      retained.set(organizationId, left);
    }
    this.#replace(
      live,
      retained,
      snapshot.organizations.map(({ content }) => content),
    );
  }

  /** Releases the retained stores that no client walks. Must be called when all workers show the live view. */
  releaseUnwalked(): void {
    this.retainOnly(new Set(this.retained.filter(({ store }) => store.walks.lastUse > 0)));
  }

  /** Releases the retained stores that exceed the retention, or the memory of the live stores. */
  releaseExpired(retention: Retention): void {
    this.retainOnly(storesToRetain(this.retained, retention, this.#clock(), this.liveBytes));
  }

  /** Releases the retained stores that are not among `kept`. */
  retainOnly(kept: ReadonlySet<RetainedStore>): void {
    if (this.retained.every((one) => kept.has(one))) return;
    const retained = new Map<string, readonly RetainedStore[]>();
    for (const [organizationId, stores] of this.#retained) {
      const left = stores.filter((one) => kept.has(one));
      if (left.length > 0) retained.set(organizationId, left);
    }
    this.#replace(this.#live, retained, []);
  }

  /** Replaces the stores. Releases images that no store uses any longer, including those of `arrived`. */
  #replace(
    live: ReadonlyMap<string, LiveStore>,
    retained: ReadonlyMap<string, readonly RetainedStore[]>,
    arrived: readonly OrganizationImage[],
  ): void {
    const before = this.#images().union(new Set(arrived));
    this.#live = live;
    this.#retained = retained;
    this.#view = new StoreView(
      new Map(live.entries().map(([id, { store }]) => [id, store])),
      new Map(retained.entries().map(([id, ones]) => [id, ones.map(({ store }) => store)])),
    );
    const released = before.difference(this.#images());
    promptGarbageCollection(released.values().reduce((sum, image) => sum + image.bytesHeld, 0));
  }

  #images(): Set<OrganizationImage> {
    return new Set(this.#view.stores().map(({ image }) => image));
  }
}

/** Minimum bound for the bytes of retained stores. Small stores are not released early. */
const ALWAYS_ALLOWED_BYTES = 64 * MEGABYTE;

/** The times for which a replaced store is retained at most. */
export interface Retention {
  /** Since its last use. */
  readonly snapshotRetainSeconds: number;
  /** Since its replacement, however often it is used. */
  readonly snapshotRetainMaxSeconds: number;
}

/** Returns the end of the retention of a store, in milliseconds of the monotonic clock. */
export function endOfRetention({ store, replacedAt }: RetainedStore, retention: Retention): number {
  const { snapshotRetainSeconds, snapshotRetainMaxSeconds } = retention;
  return Math.min(
    store.walks.lastUse + snapshotRetainSeconds * 1000,
    replacedAt + snapshotRetainMaxSeconds * 1000,
  );
}

/**
 * Sorts stores in the order in which they are retained when memory is short. The latest used of each organization
 * are first, so that the walks of one organization over many snapshots do not end those of another.
 */
export function latestUsedFirst(retained: readonly RetainedStore[]): RetainedStore[] {
  const latestUsed = retained.toSorted((a, b) => b.store.walks.lastUse - a.store.walks.lastUse);
  const byOrganization = Map.groupBy(latestUsed, ({ store }) => store.organizationId);
  const first = new Set(byOrganization.values().map(([latest]) => latest));
  return [...first, ...latestUsed.filter((one) => !first.has(one))];
}

function sumOfBytes(retained: readonly RetainedStore[]): number {
  return retained.reduce((sum, { store }) => sum + store.bytesHeld, 0);
}

/**
 * Selects the retained stores to keep, within time and memory. Keeps the latest used store of each organization,
 * and further ones as long as all together hold no more memory than the live stores.
 * @param now milliseconds of the monotonic clock
 */
export function storesToRetain(
  retained: readonly RetainedStore[],
  retention: Retention,
  now: number,
  liveBytes: number,
): Set<RetainedStore> {
  const allowed = Math.max(liveBytes, ALWAYS_ALLOWED_BYTES);
  const unexpired = retained.filter((one) => now < endOfRetention(one, retention));
  // Mostly, all of them have room. To sort 5000 stores takes 3 ms, twice a second.
  if (sumOfBytes(unexpired) <= allowed) return new Set(unexpired);
  const organizations = new Set<string>();
  const kept = new Set<RetainedStore>();
  let bytes = 0;
  for (const one of latestUsedFirst(unexpired)) {
    const { organizationId } = one.store;
    bytes += one.store.bytesHeld;
    // Otherwise, a store would be released because its successor is smaller.
    if (bytes <= allowed || !organizations.has(organizationId)) kept.add(one);
    organizations.add(organizationId);
  }
  return kept;
}
