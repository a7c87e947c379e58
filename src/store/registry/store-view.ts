import type { OrganizationStore } from '../organization-store.ts';

/** The stores that can be found at one moment, by organization. It never changes; a later one replaces it. */
export class StoreView {
  readonly live: ReadonlyMap<string, OrganizationStore>;
  /** Those that were live, and that walks still need, the last of them first. */
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

  /** Returns the store with the content that a walk is pinned to while it is kept, else the live store. */
  get(organizationId: string, contentDigest?: string): OrganizationStore | undefined {
    const live = this.live.get(organizationId);
    if (contentDigest === undefined || live?.contentDigest === contentDigest) return live;
    const retained = this.retained.get(organizationId);
    return retained?.find((store) => store.contentDigest === contentDigest) ?? live;
  }

  /** All of them, the live ones first. */
  *stores(): Generator<OrganizationStore> {
    yield* this.live.values();
    for (const stores of this.retained.values()) yield* stores;
  }
}

export const EMPTY_VIEW = new StoreView(new Map(), new Map());
