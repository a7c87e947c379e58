import { promptGarbageCollection } from '../memory/image-memory.ts';
import type { OrganizationImage, SnapshotImage } from '../organization-image.ts';
import { OrganizationStore } from '../organization-store.ts';
import { EMPTY_VIEW, StoreView } from './store-view.ts';

/** Two snapshot files hold the same organization. */
export class OrganizationConflict extends Error {
  override readonly name = 'OrganizationConflict';
  constructor(organizationId: string, file: string, owner: string) {
    super(
      `${file}: organization "${organizationId}" is already served from ${owner}; it may live in one file only`,
    );
  }
}

/** An organization that is served. */
export interface LiveOrganization {
  readonly store: OrganizationStore;
  /** The file that it came from. */
  readonly file: string;
  /** Whether that is still there; when it is not, another may take its place. */
  readonly isFilePresent: boolean;
}

/** A store that is no longer live, kept for the walks that began on it. */
export interface RetainedOrganization {
  readonly store: OrganizationStore;
  readonly file: string;
  /** When it was replaced: milliseconds of the monotonic clock. */
  readonly replacedAt: number;
}

/** The organization stores that are served: the live ones, and those that were live and that walks still need. */
export class StoreRegistry {
  #live: ReadonlyMap<string, LiveOrganization> = new Map();
  /** Of each organization those that were live, the last of them first. */
  #retained: ReadonlyMap<string, readonly RetainedOrganization[]> = new Map();
  #view = EMPTY_VIEW;

  /** What can be found at the moment. */
  get view(): StoreView {
    return this.#view;
  }

  /** What is live, by organization. */
  get live(): ReadonlyMap<string, LiveOrganization> {
    return this.#live;
  }

  /** Bytes of memory that what is live holds. */
  get liveBytes(): number {
    return this.#live.values().reduce((sum, { store }) => sum + store.bytesHeld, 0);
  }

  /** Bytes of memory that is kept for walks alone: what is retained has other content than what is live. */
  get retainedBytes(): number {
    return this.retained.reduce((sum, { store }) => sum + store.bytesHeld, 0);
  }

  /** What is kept for walks. */
  get retained(): readonly RetainedOrganization[] {
    return [...this.#retained.values()].flat();
  }

  /** The other file that an organization is served from and that may not lose it to `file`. */
  otherOwner(file: string, organizationId: string): string | undefined {
    const owner = this.#live.get(organizationId);
    return owner !== undefined && owner.isFilePresent && owner.file !== file ? owner.file : undefined;
  }

  /** A file is gone: what it held goes on serving until another file brings it. */
  release(file: string): void {
    this.#live = new Map(
      this.#live
        .entries()
        .map(([id, entry]) => [id, entry.file === file ? { ...entry, isFilePresent: false } : entry]),
    );
  }

  /**
   * Puts the organizations of a snapshot in the place of those that its file held before, in one step. One whose
   * content is what it was goes on with the memory it has. What is replaced is retained, whether somebody walks it or
   * not: who answers requests may give out links to it until they see what is live now (`releaseUnwalked`).
   * @throws OrganizationConflict when one of them is served from another file; nothing is changed then.
   */
  swap(file: string, snapshot: SnapshotImage): void {
    const live = new Map(this.#live);
    const retained = new Map(this.#retained);
    for (const { organizationId } of snapshot.organizations) {
      const owner = this.otherOwner(file, organizationId);
      if (owner !== undefined) throw new OrganizationConflict(organizationId, file, owner);
    }
    const replacedAt = performance.now();
    const fresh = new Map(
      snapshot.organizations.map((image) => [image.organizationId, new OrganizationStore(image, snapshot)]),
    );
    for (const [organizationId, { store, file: owner }] of this.#live) {
      const arrived = fresh.get(organizationId);
      if (arrived === undefined) {
        if (owner === file) {
          live.delete(organizationId);
          retained.delete(organizationId);
        }
        continue;
      }
      const known = [{ store, file: owner, replacedAt }, ...(retained.get(organizationId) ?? [])];
      const same = known.find((earlier) => earlier.store.contentDigest === arrived.contentDigest);
      if (same !== undefined)
        fresh.set(organizationId, new OrganizationStore(same.store.image, snapshot, same.store.walks));
      retained.set(
        organizationId,
        known.filter((earlier) => earlier !== same),
      );
    }
    for (const [organizationId, store] of fresh) {
      live.set(organizationId, { store, file, isFilePresent: true });
    }
    this.#replace(live, retained, snapshot.organizations);
  }

  /** Lets go of what is retained and nobody walks. To be called when all who answer requests see what is live. */
  releaseUnwalked(): void {
    this.retainOnly(new Set(this.retained.filter(({ store }) => store.walks.isSet)));
  }

  /** Lets go of what is retained and not among `kept`. */
  retainOnly(kept: ReadonlySet<RetainedOrganization>): void {
    if (this.retained.every((one) => kept.has(one))) return;
    const retained = new Map<string, readonly RetainedOrganization[]>();
    for (const [organizationId, stores] of this.#retained) {
      const left = stores.filter((one) => kept.has(one));
      if (left.length > 0) retained.set(organizationId, left);
    }
    this.#replace(this.#live, retained, []);
  }

  /** @param arrived images that are there, whether they are taken or not */
  #replace(
    live: ReadonlyMap<string, LiveOrganization>,
    retained: ReadonlyMap<string, readonly RetainedOrganization[]>,
    arrived: readonly OrganizationImage[],
  ): void {
    const before = this.#images().union(new Set(arrived));
    this.#live = live;
    this.#retained = retained;
    this.#view = new StoreView(storesOf(live), retainedStoresOf(retained));
    const released = before.difference(this.#images());
    promptGarbageCollection(released.values().reduce((sum, image) => sum + image.bytesHeld, 0));
  }

  #images(): Set<OrganizationImage> {
    return new Set(this.#view.stores().map(({ image }) => image));
  }
}

function storesOf(live: ReadonlyMap<string, LiveOrganization>): Map<string, OrganizationStore> {
  return new Map(live.entries().map(([id, { store }]) => [id, store]));
}

function retainedStoresOf(
  retained: ReadonlyMap<string, readonly RetainedOrganization[]>,
): Map<string, readonly OrganizationStore[]> {
  return new Map(retained.entries().map(([id, ones]) => [id, ones.map(({ store }) => store)]));
}

/** What replaced stores may hold together whatever is live: so that small ones are not let go of early. */
const ALWAYS_ALLOWED_BYTES = 64 * 1024 * 1024;

/**
 * Which of the replaced stores to keep: those that were replaced less than `retainMs` ago, the latest first, as far
 * as they hold no more memory together than what is live.
 *
 * @param now milliseconds of the monotonic clock
 */
export function storesToRetain(
  retained: readonly RetainedOrganization[],
  {
    now,
    retainMs,
    liveBytes,
  }: { readonly now: number; readonly retainMs: number; readonly liveBytes: number },
): Set<RetainedOrganization> {
  const allowed = Math.max(liveBytes, ALWAYS_ALLOWED_BYTES);
  const kept = new Set<RetainedOrganization>();
  let bytes = 0;
  for (const one of retained.toSorted((a, b) => b.replacedAt - a.replacedAt)) {
    bytes += one.store.bytesHeld;
    if (bytes <= allowed && now - one.replacedAt < retainMs) kept.add(one);
  }
  return kept;
}
