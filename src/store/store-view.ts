import type { OrganizationStore } from './organization-store.ts';

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

  /** The store of an organization: the one whose content a walk is pinned to while it is there, else the live one. */
  get(organizationId: string, pin?: string): OrganizationStore | undefined {
    const live = this.live.get(organizationId);
    if (pin === undefined || live === undefined || live.digest === pin) return live;
    return this.retained.get(organizationId)?.find(({ digest }) => digest === pin) ?? live;
  }

  /** All of them, the live ones first. */
  *stores(): Generator<OrganizationStore> {
    yield* this.live.values();
    for (const stores of this.retained.values()) yield* stores;
  }
}

export const EMPTY_VIEW = new StoreView(new Map(), new Map());
