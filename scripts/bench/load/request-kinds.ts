import { PREVIEW, VERSION_HEADER } from '../../../src/contract/releases.ts';
import { type SampleRecord, SnapshotContent } from '../snapshot-content.ts';
import type { Target } from './traffic.ts';

/** A kind of request, with so many targets that no response repeats soon. */
export interface RequestKind {
  readonly name: string;
  /** Returns targets from the whole list. */
  readonly targetsIn: (content: SnapshotContent) => readonly Target[];
  /** Sends the entity tag of the response, so that the response is a 304. */
  readonly isConditional?: true;
  /** Least requests a second, as a multiple of those of each server to compare with. */
  readonly reach: { readonly bare: number; readonly 'Express alone'?: number };
}

const TARGETS = 6000;
const REPEATED_TARGETS = 300;
const SMALL_PAGE = 25;
const MEDIUM_PAGE = 50;
/** Shares of all tickets, or of an event's, that were updated in a window: each width in turn. */
const WINDOW_SHARES = [0.002, 0.01, 0.05, 0.25];
const EVENT_WINDOW_SHARES = [0.2, 0.4, 0.6, 0.8];
/** Number of events in the filter of a walk, and of its pages. */
const MANY_EVENTS = 10;
const WALK_PAGES = 10;

/** The kinds of request that servers are compared by. */
export const REQUEST_KINDS: readonly RequestKind[] = [
  {
    name: 'one ticket',
    targetsIn: (content) => tickets(content).filter((_, i) => i % 2 === 0),
    reach: { bare: 0.7, 'Express alone': 0.75 },
  },
  {
    name: 'page of 25',
    targetsIn: (content) => pages(content, 25),
    reach: { bare: 0.6, 'Express alone': 0.65 },
  },
  {
    name: 'page of 100',
    // Two page sizes, because there are too few pages of 100.
    targetsIn: (content) => pages(content, 100, 99),
    reach: { bare: 0.6 },
  },
  {
    name: 'page of 50 of an event',
    targetsIn: eventPages,
    reach: { bare: 0.6 },
  },
  {
    name: 'page of 50 of a new window',
    targetsIn: (content) => {
      const byEvent = content.ticketUpdates().values();
      const updates = Float64Array.from(byEvent.flatMap((ofEvent) => ofEvent)).sort();
      return Array.from({ length: TARGETS }, (_, i) => windowPage(updates, WINDOW_SHARES, i, ''));
    },
    reach: { bare: 0.5 },
  },
  {
    name: 'page of 50 of an event in a new window',
    targetsIn: (content) => {
      const events = [...content.ticketUpdates()];
      return Array.from({ length: TARGETS }, (_, i) => {
        const [eventId, updates] = events[i % events.length];
        return windowPage(updates, EVENT_WINDOW_SHARES, i, `eventIds=${encodeURIComponent(eventId)}&`);
      });
    },
    reach: { bare: 0.45 },
  },
  {
    name: `walk through the orders of ${MANY_EVENTS} events`,
    targetsIn: orderWalks,
    reach: { bare: 0.45 },
  },
  {
    name: '304 for one ticket',
    targetsIn: (content) => tickets(content).filter((_, i) => i % 2 === 1),
    isConditional: true,
    reach: { bare: 0.8, 'Express alone': 0.75 },
  },
  {
    name: `page of 50 of an event, ${REPEATED_TARGETS} that repeat`,
    targetsIn: (content) => sample(eventPages(content), REPEATED_TARGETS),
    reach: { bare: 0.6 },
  },
  { name: 'offers of an event cut to a session', targetsIn: cutOffers, reach: { bare: 0.3 } },
];

/** Describes `mixedTargets` in the notes of rows. */
export const MIXED_TRAFFIC = 'one ticket, three times in four, or a page of 25';

/** Returns three targets of a ticket, then one of a page, in turn. They come from all over a snapshot file. */
export function mixedTargets(snapshot: string): Target[] {
  using content = new SnapshotContent(snapshot);
  const all = tickets(content);
  const listed = pages(content, SMALL_PAGE);
  return all.flatMap((ticket, i) =>
    i % 3 < 2 ? [ticket] : [ticket, listed[Math.floor((i * listed.length) / all.length)]],
  );
}

function tickets(content: SnapshotContent): Target[] {
  return content
    .records('tickets', 2 * TARGETS)
    .map(({ ticketId }) => ({ path: `/v1/tickets/${String(ticketId)}` }));
}

/** Returns pages of the whole list, of each size. */
function pages(content: SnapshotContent, ...sizes: readonly number[]): Target[] {
  return sizes.flatMap((perPage) =>
    sample(pagesOf('tickets', '', perPage, content.count('tickets')), TARGETS / sizes.length),
  );
}

/** Returns pages of 50 of each event. */
function eventPages(content: SnapshotContent): Target[] {
  return sample(eventLists(content).flat(), TARGETS);
}

function eventLists(content: SnapshotContent): Target[][] {
  return Array.from(content.ticketUpdates(), ([eventId, { length }]) =>
    pagesOf('tickets', `eventIds=${encodeURIComponent(eventId)}&`, MEDIUM_PAGE, length),
  );
}

/** Kinds of pages of the tickets, each from the first half of its lists, and from the second. */
export function halvesOfPages(content: SnapshotContent) {
  const halves = (lists: readonly Target[][]) => {
    const middleOf = ({ length }: readonly Target[]) => Math.floor(length / 2);
    const first = lists.flatMap((list) => list.slice(0, middleOf(list)));
    const second = lists.flatMap((list) => list.slice(-middleOf(list)));
    return { first: sample(first, TARGETS), second: sample(second, TARGETS) };
  };
  const all = pagesOf('tickets', '', SMALL_PAGE, content.count('tickets'));
  return [
    { name: 'page of 25', ...halves([all]) },
    { name: 'page of 50 of an event', ...halves(eventLists(content)) },
  ];
}

/** Returns the first pages of the orders of several events, page by page: the filters are the same throughout a walk. */
function orderWalks(content: SnapshotContent): Target[] {
  const counts = [...content.orderCounts()];
  const walks = counts.map((_, i) => counts.slice(i, i + MANY_EVENTS));
  return sample(walks, TARGETS / WALK_PAGES).flatMap((events) => {
    const eventIds = events.map(([id]) => encodeURIComponent(id)).join();
    const count = Math.max(...events.map(([, orders]) => orders));
    return pagesOf('orders', `eventIds=${eventIds}&`, SMALL_PAGE, count).slice(0, WALK_PAGES);
  });
}

function pagesOf(list: string, filter: string, perPage: number, count: number): Target[] {
  return Array.from({ length: Math.ceil(count / perPage) }, (_, i) => ({
    path: `/v1/${list}?${filter}perPage=${perPage}&page=${i + 1}`,
  }));
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
