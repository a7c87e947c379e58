import type { RequestInterval } from '../../admin/request-history.ts';
import type { keysPage, organizationsPage, summaryOf } from '../../admin/status.ts';

/** Responses of the admin port. docs/reference.md describes their paths. */

export type Summary = ReturnType<typeof summaryOf>;
export type Memory = Summary['memory'];
export type LiveSnapshot = Summary['snapshots'][number];
export type LoadOutcome = Summary['loads'][number];
export type Interval = RequestInterval;
export type Organization = ReturnType<typeof organizationsPage>['items'][number];
export type Key = ReturnType<typeof keysPage>['items'][number];

/** A page of organizations or keys. */
export type ListPage<T> = Omit<ReturnType<typeof keysPage>, 'items'> & { readonly items: readonly T[] };
