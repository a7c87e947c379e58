import type { OrganizationStore } from './organization-store.ts';

/** What requests are answered from. */
export interface ServedStores {
  /** Whether there is no store at all. */
  readonly isEmpty: boolean;
  /** The store of an organization: the one whose content a walk is pinned to while it is there, else the live one. */
  get(organizationId: string, pin?: string): OrganizationStore | undefined;
  /** A link to a further page of a store was given out: whoever follows it is to find the same content. */
  noteWalk(store: OrganizationStore): void;
}
