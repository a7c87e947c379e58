import type { AnyStore, DeletionsStore, OrganizationStore } from '../../store/organization-store.ts';
import type { StoreView } from '../../store/registry/store-view.ts';
import { notReady } from '../response/problem.ts';

const NO_SNAPSHOT = notReady('no data is loaded yet');
/** To a syncing client, an empty list would look like the deletion of all records. */
const ORGANIZATION_NOT_LOADED = notReady(
  'no live snapshot holds your organization; the operator must publish one',
);

/**
 * Checks that the process has data to serve.
 * @throws Problem 429 until a snapshot is live
 */
export function checkAvailability(view: StoreView): void {
  if (view.isEmpty) throw NO_SNAPSHOT;
}

/** The stores of the caller's organization. */
export interface StoresOfCaller {
  readonly content: PartStores<OrganizationStore>;
  readonly deletions: PartStores<DeletionsStore>;
}

/** The stores of one part of the organization's data. */
export interface PartStores<Store extends AnyStore> {
  readonly live: Store;
  /** Returns the store with a content digest, live or retained. */
  readonly withContent: (contentDigest: string) => Store | undefined;
}

/**
 * Binds the stores of a view to one organization. Handlers get nothing else, so no other organization is in their
 * reach.
 * @throws Problem 429 when no live snapshot holds the organization
 */
export function storesOf(view: StoreView, organizationId: string): StoresOfCaller {
  const [content, deletions] = [view.get(organizationId), view.getDeletions(organizationId)];
  if (content === undefined || deletions === undefined) throw ORGANIZATION_NOT_LOADED;
  return {
    content: { live: content, withContent: (digest) => view.get(organizationId, digest) },
    deletions: { live: deletions, withContent: (digest) => view.getDeletions(organizationId, digest) },
  };
}
