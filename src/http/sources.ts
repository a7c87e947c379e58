import type { Request, Response } from 'express';
import { DATA_AS_OF_HEADER, SNAPSHOT_ID_HEADER } from '../contract/headers.ts';
import { VERSION_HEADER } from '../contract/releases.ts';
import type { OrganizationStore } from '../store/organization-store.ts';
import type { ServedStores } from '../store/served-stores.ts';
import { ORGANIZATION_NOT_LOADED } from './admit.ts';
import type { Editions } from './editions.ts';
import type { OriginOptions } from './origin.ts';
import type { Exchange } from './exchange.ts';
import type { HeaderList } from './problem.ts';

/** Answers an operation for an authenticated caller. */
export type Answer = (request: Request, response: Response) => void;

/** Where answers come from. */
export interface Sources {
  readonly stores: ServedStores;
  readonly editions: Editions;
  readonly origin: OriginOptions;
}

const VARY = `Authorization, ${VERSION_HEADER}`;
const REVALIDATE = 'private, no-cache';
/** A partial view must not be taken for the whole, so nobody keeps it. */
const KEEP_NOTHING = 'no-store';

/**
 * The one store that a request sees: its own organization's.
 * @param pin digest of the content that the walk is on, of which the request asks a page
 * @throws Problem 429 while no snapshot holds the organization.
 */
export function storeOf({ stores }: Sources, { organizationId }: Exchange, pin?: string): OrganizationStore {
  const store = stores.get(organizationId, pin);
  if (store === undefined) throw ORGANIZATION_NOT_LOADED;
  return store;
}

/** Returns the headers of every response that carries data of a store. */
export function dataHeaders(
  { snapshotId, producedAt }: OrganizationStore,
  isPartialView = false,
): HeaderList {
  return [
    SNAPSHOT_ID_HEADER,
    snapshotId,
    DATA_AS_OF_HEADER,
    producedAt,
    'Cache-Control',
    isPartialView ? KEEP_NOTHING : REVALIDATE,
    'Vary',
    VARY,
  ];
}
