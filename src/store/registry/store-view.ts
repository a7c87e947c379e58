import type { OrganizationStore } from '../organization-store.ts';

/** The stores that requests can reach, by organization. A view is immutable; a swap creates another one. */
export class StoreView {
  readonly live: ReadonlyMap<string, OrganizationStore>;
  /** Replaced stores that are kept for walks, the latest first. */
  readonly retained: ReadonlyMap<string, readonly OrganizationStore[]>;

  constructor(
    live: ReadonlyMap<string, OrganizationStore>,
    retained: ReadonlyMap<string, readonly OrganizationStore[]>,
  ) {
    this.live = live;
    this.retained = retained;
  }

  get isEmpty(): boolean {
    return this.live.size === 0;
  }

  /** Returns the live store, or the one with the given content, live or retained. */
  get(organizationId: string, contentDigest?: string): OrganizationStore | undefined {
    const live = this.live.get(organizationId);
    if (contentDigest === undefined || live?.contentDigest === contentDigest) return live;
    return this.retained.get(organizationId)?.find((store) => store.contentDigest === contentDigest);
  }

  /** Returns whether the image of a store is live or retained. */
  holds({ organizationId, contentDigest }: OrganizationStore): boolean {
    return this.get(organizationId, contentDigest) !== undefined;
  }

  /** Yields all stores, the live ones first. */
  *stores(): Generator<OrganizationStore> {
    yield* this.live.values();
    for (const stores of this.retained.values()) yield* stores;
  }
}

export const EMPTY_VIEW = new StoreView(new Map(), new Map());
