import { type AnyStore, DeletionsStore, OrganizationStore } from '../organization-store.ts';

/** The stores that requests can reach, by organization. A view is immutable; a swap creates another one. */
export class StoreView {
  readonly live: ReadonlyMap<string, OrganizationStore>;
  /** The live deletions of the same organizations. */
  readonly deletions: ReadonlyMap<string, DeletionsStore>;
  /** Replaced stores that are kept for walks, the latest first. */
  readonly retained: ReadonlyMap<string, readonly AnyStore[]>;

  constructor(
    live: ReadonlyMap<string, OrganizationStore>,
    deletions: ReadonlyMap<string, DeletionsStore>,
    retained: ReadonlyMap<string, readonly AnyStore[]>,
  ) {
    this.live = live;
    this.deletions = deletions;
    this.retained = retained;
  }

  get isEmpty(): boolean {
    return this.live.size === 0;
  }

  /** Returns the live store, or the one with the given content, live or retained. */
  get(organizationId: string, contentDigest?: string): OrganizationStore | undefined {
    const live = this.live.get(organizationId);
    if (contentDigest === undefined || live?.contentDigest === contentDigest) return live;
    return storeWith(OrganizationStore, contentDigest, this.retained.get(organizationId) ?? []);
  }

  /** Returns the live deletions, or those with the given digest, live or retained. */
  getDeletions(organizationId: string, digest?: string): DeletionsStore | undefined {
    const live = this.deletions.get(organizationId);
    if (digest === undefined || live?.contentDigest === digest) return live;
    return storeWith(DeletionsStore, digest, this.retained.get(organizationId) ?? []);
  }

  /** Returns whether the image of a store is live or retained. */
  holds(store: AnyStore): boolean {
    const { organizationId, contentDigest } = store;
    const found =
      store instanceof DeletionsStore
        ? this.getDeletions(organizationId, contentDigest)
        : this.get(organizationId, contentDigest);
    return found !== undefined;
  }

  /** Yields all stores, the live ones first. */
  *stores(): Generator<AnyStore> {
    yield* this.live.values();
    yield* this.deletions.values();
    for (const stores of this.retained.values()) yield* stores;
  }
}

export const EMPTY_VIEW = new StoreView(new Map(), new Map(), new Map());

/** Returns the store of a kind that has the given digest. */
export function storeWith<Store extends AnyStore>(
  kind: new (...args: never[]) => Store,
  contentDigest: string,
  stores: readonly AnyStore[],
): Store | undefined {
  for (const store of stores)
    if (store instanceof kind && store.contentDigest === contentDigest) return store;
  return undefined;
}
