import { promptGarbageCollection } from '../memory/image-memory.ts';
import type { OrganizationImage, SnapshotImage } from '../organization-image.ts';
import { OrganizationStore } from '../organization-store.ts';
import { EMPTY_VIEW, StoreView } from './store-view.ts';

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
  #live: ReadonlyMap<string, LiveStore> = new Map();
  /** By organization, the latest replaced first. */
  #retained: ReadonlyMap<string, readonly RetainedStore[]> = new Map();
  #view = EMPTY_VIEW;

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
    return this.retained.reduce((sum, { store }) => sum + store.bytesHeld, 0);
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
   * Replaces the organizations of a file by those of its new snapshot, in one step. An organization with unchanged
   * content keeps its image. All replaced stores are retained: until every worker shows the new view, workers may
   * send links to them (see `releaseUnwalked`).
   * @throws Error, and changes nothing, when another file serves one of the organizations; the admission refuses
   * these
   */
  swap(file: string, snapshot: SnapshotImage): void {
    const arrived = new Set(snapshot.organizations.map(({ organizationId }) => organizationId));
    for (const organizationId of arrived) {
      if (this.otherOwner(file, organizationId) === undefined) continue;
      throw new Error(`${file}: organization "${organizationId}" is served from another file`);
    }
    const live = new Map(this.#live);
    const retained = new Map(this.#retained);
    for (const [organizationId, { file: owner }] of this.#live) {
      if (owner !== file || arrived.has(organizationId)) continue;
      live.delete(organizationId);
      retained.delete(organizationId);
    }
    const replacedAt = performance.now();
    for (const image of snapshot.organizations) {
      const { organizationId, contentDigest } = image;
      const replaced = live.get(organizationId);
      const known = [...(retained.get(organizationId) ?? [])];
      if (replaced !== undefined) known.unshift({ store: replaced.store, file: replaced.file, replacedAt });
      const same = known.find((earlier) => earlier.store.contentDigest === contentDigest);
      const store = new OrganizationStore(same?.store.image ?? image, snapshot, same?.store.walks);
      live.set(organizationId, { store, file, isFilePresent: true });
      retained.set(
        organizationId,
        known.filter((earlier) => earlier !== same),
      );
    }
    this.#replace(live, retained, snapshot.organizations);
  }

  /** Releases the retained stores that no client walks. Must be called when all workers show the live view. */
  releaseUnwalked(): void {
    this.retainOnly(new Set(this.retained.filter(({ store }) => store.walks.isSet)));
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
const ALWAYS_ALLOWED_BYTES = 64 * 1024 * 1024;

/**
 * Selects the retained stores to keep, within time and memory. Keeps those replaced less than `retainMs` ago, the
 * latest first, as long as they hold no more memory together than the live stores.
 *
 * @param now milliseconds of the monotonic clock
 */
export function storesToRetain(
  retained: readonly RetainedStore[],
  {
    now,
    retainMs,
    liveBytes,
  }: { readonly now: number; readonly retainMs: number; readonly liveBytes: number },
): Set<RetainedStore> {
  const allowed = Math.max(liveBytes, ALWAYS_ALLOWED_BYTES);
  const kept = new Set<RetainedStore>();
  let bytes = 0;
  for (const one of retained.toSorted((a, b) => b.replacedAt - a.replacedAt)) {
    bytes += one.store.bytesHeld;
    if (bytes <= allowed && now - one.replacedAt < retainMs) kept.add(one);
  }
  return kept;
}
