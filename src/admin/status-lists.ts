import type { Request } from 'express';
import { Problem } from '../http/response/problem.ts';
import { type KeyRow, stateOf } from '../keys/key-ring.ts';
import { loadedCounts } from '../snapshot/format/manifest.ts';
import { bytesOf, sectionsOf } from '../store/organization-image.ts';
import type { LiveStore } from '../store/registry/store-registry.ts';
import type { AdminDependencies } from './admin-state.ts';

/** The lists of the status that grow with the number of organizations: whole, or in pages with a search. */

const PER_PAGE = 10;

interface ListQuery {
  /** Part of an id or label, in lower case. */
  readonly search: string;
  readonly page: number;
}

/**
 * Reads the parameters of a list.
 * @throws Problem with 400 when one is invalid
 */
export function listQuery({ search = '', page = '1' }: Request['query']): ListQuery {
  if (typeof search !== 'string' || typeof page !== 'string' || !/^[1-9]\d{0,8}$/.test(page))
    throw new Problem(400, 'The parameters are search, one text, and page, a whole number from 1 on.');
  return { search: search.toLowerCase(), page: Number(page) };
}

/** Returns a page of the live organizations, by id. */
export function organizationsPage({ stores }: AdminDependencies, query: ListQuery) {
  const found = [...stores.live.values()]
    .filter(({ store }) => matches(query, store.organizationId))
    .sort((a, b) => (a.store.organizationId < b.store.organizationId ? -1 : 1));
  return pageOfList(found, query, (live) => ({ ...organizationStatus(live), file: live.file }));
}

/** Returns a page of the keys, in the order of the keys file. */
export function keysPage(dependencies: AdminDependencies, query: ListQuery) {
  const rows = dependencies.keys.current?.rows ?? [];
  const found = rows.filter(({ keyId, organizationId, label }) =>
    matches(query, keyId, organizationId, label),
  );
  return pageOfList(found, query, (row) => keyStatus(row, dependencies));
}

export function organizationStatus({ store }: LiveStore) {
  return {
    organizationId: store.organizationId,
    records: loadedCounts(store),
    bytesHeld: bytesOf(sectionsOf(store)),
  };
}

/** Describes a key without its digest. */
export function keyStatus(row: KeyRow, { stores, workers, clock }: AdminDependencies) {
  const { keyId, organizationId, label, expiresAt } = row;
  return {
    keyId,
    organizationId,
    label,
    state: stateOf(row, clock()),
    expiresAt,
    /** Whether a live snapshot holds the organization. If not, requests with the key get 429. */
    hasData: stores.live.has(organizationId),
    /** Start of the hour of the last request with the key, since the process started. */
    lastUsedAt: workers.lastUseOf(keyId) ?? null,
  };
}

function matches({ search }: ListQuery, ...texts: readonly string[]): boolean {
  return texts.some((text) => text.toLowerCase().includes(search));
}

/** Describes the items of a page only. A page beyond the last one is empty. */
function pageOfList<T, U>(found: readonly T[], { page }: ListQuery, describe: (one: T) => U) {
  const end = page * PER_PAGE;
  return {
    items: found.slice(end - PER_PAGE, end).map(describe),
    page,
    totalPages: Math.ceil(found.length / PER_PAGE),
    /** Number of items on all pages. */
    total: found.length,
  };
}
