import type { OrganizationStore } from '../../store/organization-store.ts';
import type { ServedStores } from '../../store/served-stores.ts';
import { tryLater } from '../response/problem.ts';
import type { Tally } from '../tally.ts';

const RETRY_OVERLOAD_SECONDS = 1;
export const RETRY_NOT_READY_SECONDS = 5;

const OVERLOADED = tryLater(
  'overload',
  'Too many requests are being answered at the moment.',
  RETRY_OVERLOAD_SECONDS,
);
const NO_SNAPSHOT = tryLater(
  'not-ready',
  'The service is not ready: it has no data yet. Try again soon.',
  RETRY_NOT_READY_SECONDS,
);
/** Never an empty list: a client that copies the data would take it for the deletion of everything. */
const ORGANIZATION_NOT_LOADED = tryLater(
  'not-ready',
  'The service is not ready: the data of your organization is not loaded yet. Try again soon.',
  RETRY_NOT_READY_SECONDS,
);

/** @throws Problem 429 while requests take too long, or there is no data at all */
export function checkAvailability(isOverloaded: boolean, stores: ServedStores): void {
  if (isOverloaded) throw OVERLOADED;
  if (stores.isEmpty) throw NO_SNAPSHOT;
}

/**
 * Returns the one store that a request sees: its own organization's.
 * @param pin digest of the content that the page is of
 * @throws Problem 429 while no snapshot holds the organization
 */
export function storeOf(stores: ServedStores, organizationId: string, pin?: string): OrganizationStore {
  const store = stores.get(organizationId, pin);
  if (store === undefined) throw ORGANIZATION_NOT_LOADED;
  return store;
}

const SAMPLE_MS = 50;

/**
 * Watches how late the event loop is, and tells it to the tally: while it is later than `limitMs`, requests wait
 * longer than they are worth. Returns whether it is, and how to end the watch. A limit of 0 means never.
 */
export function watchOverload(
  limitMs: number,
  tally: Tally,
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
    tally.noteDelay(delay / 1000);
  }, SAMPLE_MS);
  timer.unref();
  return {
    isOverloaded: () => limitMs > 0 && delay > limitMs,
    stop: () => {
      clearInterval(timer);
    },
  };
}
