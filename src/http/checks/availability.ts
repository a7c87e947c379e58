import type { OrganizationStore } from '../../store/organization-store.ts';
import type { StoreView } from '../../store/registry/store-view.ts';
import type { RequestMetrics } from '../request-metrics.ts';
import { notReady, retryLater } from '../response/problem.ts';

const RETRY_OVERLOAD_SECONDS = 1;
const OVERLOADED = retryLater(
  'overload',
  'The service is overloaded. Try again later.',
  RETRY_OVERLOAD_SECONDS,
);
const NO_SNAPSHOT = notReady('no data is loaded yet');
/** To a syncing client, an empty list would look like the deletion of all records. */
const ORGANIZATION_NOT_LOADED = notReady('the data of your organization is not loaded yet');

/**
 * Checks that the process can answer requests.
 * @throws Problem 429 during overload, and until a snapshot is live
 */
export function checkAvailability(isOverloaded: boolean, view: StoreView): void {
  if (isOverloaded) throw OVERLOADED;
  if (view.isEmpty) throw NO_SNAPSHOT;
}

/** Returns the store with a content digest while it is retained, else the live store. */
export type StoreOfCaller = (contentDigest?: string) => OrganizationStore;

/**
 * Binds the stores of a view to one organization. Handlers get nothing else, so no other organization is in their
 * reach.
 * @throws Problem 429 when no live snapshot holds the organization
 */
export function storesOf(view: StoreView, organizationId: string): StoreOfCaller {
  const live = view.get(organizationId);
  if (live === undefined) throw ORGANIZATION_NOT_LOADED;
  return (contentDigest) =>
    contentDigest === undefined ? live : (view.get(organizationId, contentDigest) ?? live);
}

const SAMPLE_MS = 50;

/**
 * Samples the event-loop delay and records it in the metrics.
 * @param limitMs delay above which the thread is overloaded; 0 for never
 */
export function watchOverload(limitMs: number, metrics: RequestMetrics) {
  let last = performance.now();
  let delay = 0;
  const timer = setInterval(() => {
    const now = performance.now();
    delay = Math.max(0, now - last - SAMPLE_MS);
    last = now;
    metrics.observeDelay(delay / 1000);
  }, SAMPLE_MS);
  timer.unref();
  return {
    isOverloaded: () => limitMs > 0 && delay > limitMs,
    stop: () => {
      clearInterval(timer);
    },
  };
}
