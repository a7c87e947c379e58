import { PREVIEW, VERSION_HEADER } from '../../../src/contract/releases.ts';
import type { Target } from '../load/traffic.ts';
import type { SampleRecord, SnapshotContent } from '../snapshot-content.ts';

/** A kind of request, with so many targets that no response repeats soon. */
export interface RequestKind {
  readonly name: string;
  readonly targets: readonly Target[];
  /** Sends the entity tag of the response, so that the response is a 304. */
  readonly isConditional: boolean;
  /** Least requests a second, as a multiple of those of each server that serves the kind. */
  readonly reach: Readonly<Partial<Record<Comparison, number>>>;
}

/** The servers that Foyer is compared with. */
export const COMPARISONS = {
  bare: 'bare',
  express: 'Express alone',
  usual: 'the usual way',
  rival: 'the rival',
  cachingRival: 'the rival with remembered totals',
} as const;
/** Checks that a server leaves out. */
export const OMISSIONS: Readonly<Partial<Record<Comparison, string>>> = {
  bare: 'no checks',
  express: 'no checks',
  rival: 'no API versions, loose query checks',
  cachingRival: 'no API versions, loose query checks',
};
export type Comparison = keyof typeof COMPARISONS;

const TARGETS = 6000;
const REPEATED_TARGETS = 300;
const SMALL_PAGE = 25;
const MEDIUM_PAGE = 50;
const LARGE_PAGE = 100;
/** Shares of all tickets, or of an event's, that were updated in a window: each width in turn. */
const WINDOW_SHARES = [0.002, 0.01, 0.05, 0.25];
const EVENT_WINDOW_SHARES = [0.2, 0.4, 0.6, 0.8];
/** Number of events in the filter of a walk, and of its pages. */
const MANY_EVENTS = 10;
const WALK_PAGES = 10;

/** Returns the kinds of request that servers are compared by, with targets from the whole list. */
export function requestKinds(content: SnapshotContent): RequestKind[] {
  const paths = content
    .records('tickets', 2 * TARGETS)
    .map(({ ticketId }) => ({ path: `/v1/tickets/${String(ticketId)}` }));
  const [tickets, otherTickets] = [0, 1].map((half) => paths.filter((_, i) => i % 2 === half));
  const pagesOfEvents = eventPages(content);
  return [
    kind('one ticket', tickets, { bare: 0.7, usual: 3, rival: 1.15, cachingRival: 1.15, express: 0.75 }),
    kind(`page of ${SMALL_PAGE}`, pages(content, [SMALL_PAGE]), {
      bare: 0.6,
      usual: 3,
      rival: 4,
      cachingRival: 2.6,
      express: 0.65,
    }),
    // Two page sizes, because there are too few pages of 100.
    kind(`page of ${LARGE_PAGE}`, pages(content, [LARGE_PAGE, LARGE_PAGE - 1]), {
      bare: 0.6,
      usual: 10,
      rival: 4,
      cachingRival: 2.6,
    }),
    kind(`page of ${MEDIUM_PAGE} of an event`, pagesOfEvents, {
      bare: 0.6,
      usual: 3,
      rival: 4,
      cachingRival: 4,
    }),
    kind(`page of ${MEDIUM_PAGE} of a new window`, windowPages(content), {
      bare: 0.5,
      usual: 3,
      rival: 4,
      cachingRival: 4,
    }),
    kind(`page of ${MEDIUM_PAGE} of an event in a new window`, eventWindowPages(content), {
      bare: 0.45,
      usual: 3,
      rival: 4,
      cachingRival: 4,
    }),
    kind(`walk through the orders of ${MANY_EVENTS} events`, orderWalks(content), { bare: 0.45 }),
    kind(
      '304 for one ticket',
      otherTickets,
      { bare: 0.8, usual: 3, rival: 1.15, cachingRival: 1.15, express: 0.75 },
      true,
    ),
    kind(
      `page of ${MEDIUM_PAGE} of an event, ${REPEATED_TARGETS} that repeat`,
      sample(pagesOfEvents, REPEATED_TARGETS),
      { bare: 0.6, usual: 3, rival: 4, cachingRival: 4 },
    ),
    kind('offers of an event cut to a session', cutOffers(content), { bare: 0.3 }),
  ];
}

function kind(
  name: string,
  targets: readonly Target[],
  reach: RequestKind['reach'],
  isConditional = false,
): RequestKind {
  // Captured responses are keyed by path, and windows with the same end share a path.
  const byPath = new Map(targets.map((target) => [target.path, target]));
  return { name, targets: [...byPath.values()], isConditional, reach };
}

/** Returns pages of the whole list, of each size. */
export function pages(content: SnapshotContent, sizes: readonly number[]): Target[] {
  const count = content.count('tickets');
  return sizes.flatMap((perPage) => {
    const all = Array.from({ length: Math.ceil(count / perPage) }, (_, i) => ({
      path: `/v1/tickets?perPage=${perPage}&page=${i + 1}`,
    }));
    return sample(all, TARGETS / sizes.length);
  });
}

function eventPages(content: SnapshotContent): Target[] {
  const all = Array.from(content.ticketUpdatesByEvent(), ([eventId, { length }]) =>
    Array.from({ length: Math.ceil(length / MEDIUM_PAGE) }, (_, i) => ({
      path: `/v1/tickets?eventIds=${encodeURIComponent(eventId)}&perPage=${MEDIUM_PAGE}&page=${i + 1}`,
    })),
  );
  return sample(all.flat(), TARGETS);
}

/**
 * Returns the first pages of the orders of several events, page by page: the filters are the same throughout a walk.
 */
function orderWalks(content: SnapshotContent): Target[] {
  const counts = [...content.orderCounts()];
  const walks = counts.map((_, i) => counts.slice(i, i + MANY_EVENTS));
  return sample(walks, TARGETS / WALK_PAGES).flatMap((events) => {
    const eventIds = events.map(([id]) => encodeURIComponent(id)).join();
    const count = Math.max(...events.map(([, orders]) => orders));
    return Array.from({ length: Math.min(WALK_PAGES, Math.ceil(count / SMALL_PAGE)) }, (_, i) => ({
      path: `/v1/orders?eventIds=${eventIds}&perPage=${SMALL_PAGE}&page=${i + 1}`,
    }));
  });
}

function windowPages(content: SnapshotContent): Target[] {
  const updates = content.ticketUpdates();
  return Array.from({ length: TARGETS }, (_, i) => windowPage(updates, WINDOW_SHARES, i, ''));
}

function eventWindowPages(content: SnapshotContent): Target[] {
  const events = [...content.ticketUpdatesByEvent()];
  return Array.from({ length: TARGETS }, (_, i) => {
    const [eventId, updates] = events[i % events.length];
    return windowPage(updates, EVENT_WINDOW_SHARES, i, `eventIds=${encodeURIComponent(eventId)}&`);
  });
}

/** Returns target `i` of its kind: a full page, of any depth, of a window with one of the shares of the updates. */
function windowPage(updates: Float64Array, shares: readonly number[], i: number, filter: string): Target {
  const size = Math.max(1, Math.floor(updates.length * shares[i % shares.length]));
  const first = Math.floor((i * (updates.length - size)) / TARGETS);
  const round = Math.floor(i / shares.length);
  const page = 1 + (round % Math.max(1, Math.floor(size / MEDIUM_PAGE)));
  const to = new Date(updates[first + size - 1] / 1000).toISOString();
  return {
    path: `/v1/tickets?${filter}perPage=${MEDIUM_PAGE}&page=${page}&updatedAt.lte=${to}&updatedAt.gte=`,
    windowFrom: updates[first] / 1000,
  };
}

/** Returns the offers of each event cut to each of its sessions: responses that are not stored bytes. */
function cutOffers(content: SnapshotContent): Target[] {
  const all = content.records('offers', content.count('offers')).flatMap(({ eventId, inventory }) =>
    typeof eventId === 'string' && Array.isArray(inventory)
      ? (inventory as readonly SampleRecord[]).map(({ sessionId }) => ({
          path: `/v1/catalog/offers?eventId=${encodeURIComponent(eventId)}&sessionId=${encodeURIComponent(String(sessionId))}`,
          headers: { [VERSION_HEADER]: PREVIEW },
        }))
      : [],
  );
  return sample(all, TARGETS);
}

/** Returns elements at equal distances; all of a shorter list. */
function sample<T>(list: readonly T[], wanted: number): T[] {
  const count = Math.min(wanted, list.length);
  return Array.from({ length: count }, (_, i) => list[Math.floor((i * list.length) / count)]);
}
