import type { OrganizationStore } from '../../store/organization-store.ts';
import type { StoreView } from '../../store/registry/store-view.ts';
import type { RequestMetrics } from '../request-metrics.ts';
import { retryLater } from '../response/problem.ts';

const RETRY_OVERLOAD_SECONDS = 1;
export const RETRY_NOT_READY_SECONDS = 5;

const OVERLOADED = retryLater(
  'overload',
  'Too many requests are being answered at the moment.',
  RETRY_OVERLOAD_SECONDS,
);
const NO_SNAPSHOT = retryLater(
  'not-ready',
  'The service is not ready: it has no data yet. Try again soon.',
  RETRY_NOT_READY_SECONDS,
);
/** Never an empty list: a client that copies the data would take it for the deletion of everything. */
const ORGANIZATION_NOT_LOADED = retryLater(
  'not-ready',
  'The service is not ready: the data of your organization is not loaded yet. Try again soon.',
  RETRY_NOT_READY_SECONDS,
);

/** @throws Problem 429 while requests take too long, or there is no data at all */
export function checkAvailability(isOverloaded: boolean, view: StoreView): void {
  if (isOverloaded) throw OVERLOADED;
  if (view.isEmpty) throw NO_SNAPSHOT;
}

/**
 * Returns the one store that a request sees: its own organization's.
 * @param contentDigest the content that a walk is pinned to
 * @throws Problem 429 while no snapshot holds the organization
 */
export function storeOf(view: StoreView, organizationId: string, contentDigest?: string): OrganizationStore {
  const store = view.get(organizationId, contentDigest);
  if (store === undefined) throw ORGANIZATION_NOT_LOADED;
  return store;
}

const SAMPLE_MS = 50;

/**
 * Watches how late the event loop is, and tells it to the metrics: while it is later than `limitMs`, requests wait
 * longer than they are worth. Returns whether it is, and how to end the watch. A limit of 0 means never.
 */
export function watchOverload(
  limitMs: number,
  metrics: RequestMetrics,
): {
  readonly isOverloaded: () => boolean;
  readonly stop: () => void;
} {
  let last = performance.now();
  let delay = 0;
  const timer = setInterval(() => {
    const now = performance.now();
    // A timer may come a little early.
    delay = Math.max(0, now - last - SAMPLE_MS);
    last = now;
    metrics.noteDelay(delay / 1000);
  }, SAMPLE_MS);
  timer.unref();
  return {
    isOverloaded: () => limitMs > 0 && delay > limitMs,
    stop: () => {
      clearInterval(timer);
    },
  };
}
