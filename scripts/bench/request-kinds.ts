import type { SnapshotContent } from './snapshot-content.ts';
import type { Target } from './traffic.ts';

/** A kind of request, with many of it that are different. */
export interface RequestKind {
  readonly name: string;
  readonly targets: readonly Target[];
  /** The caller has the answer already: 304. */
  readonly isKnown: boolean;
  /** Requests a second, at least so many times those of the bare server, and of the usual one. */
  readonly ofBare: number;
  readonly ofUsual: number;
}

const TARGETS = 300;
const WINDOWS = 100;
const PAGES_OF_WINDOW = 3;
/** So many that none is remembered until it is asked for again. */
const NEW_WINDOWS = 2500;
/** Share of all tickets that were updated in a window. */
const WINDOW_SHARE = 0.01;
const SMALL_PAGE = 25;
const LARGE_PAGE = 100;

/** The kinds that the servers are compared by, from all over the tickets of a snapshot. */
export function requestKinds(content: SnapshotContent): RequestKind[] {
  const paths = (name: string, list: readonly string[], ofBare = 0.6, ofUsual = 3): RequestKind => ({
    name,
    targets: list.map((path) => ({ path })),
    isKnown: false,
    ofBare,
    ofUsual,
  });
  const ids = content
    .records('tickets', 2 * TARGETS)
    .map(({ ticketId }) => `/v1/tickets/${String(ticketId)}`);
  return [
    paths(
      'one ticket',
      ids.filter((_, i) => i % 2 === 0),
    ),
    paths(`page of ${SMALL_PAGE}`, pages(content.count('tickets'), '', SMALL_PAGE, TARGETS)),
    paths(`page of ${LARGE_PAGE}`, pages(content.count('tickets'), '', LARGE_PAGE, TARGETS), 0.7, 10),
    paths(`page of ${SMALL_PAGE} of an event`, eventPages(content)),
    paths(`page of ${SMALL_PAGE} of an update window`, windowPages(content, WINDOWS)),
    paths(`page of ${SMALL_PAGE} of an update window, new each time`, windowPages(content, NEW_WINDOWS), 0.5),
    {
      ...paths(
        '304 for one ticket',
        ids.filter((_, i) => i % 2 === 1),
      ),
      isKnown: true,
    },
  ];
}

/** Pages of a list of `count` records, evenly apart, from the first on. */
function pages(count: number, filter: string, perPage: number, wanted: number): string[] {
  const all = Math.ceil(count / perPage);
  return Array.from({ length: Math.min(wanted, all) }, (_, i) => {
    const page = 1 + Math.floor((i * all) / Math.min(wanted, all));
    return `/v1/tickets?${filter}perPage=${perPage}&page=${page}`;
  });
}

function eventPages(content: SnapshotContent): string[] {
  const events = content.ticketsByEvent().filter(([, tickets]) => tickets > 0);
  const each = Math.max(1, Math.ceil(TARGETS / events.length));
  return events
    .flatMap(([id, tickets]) => pages(tickets, `eventIds=${encodeURIComponent(id)}&`, SMALL_PAGE, each))
    .slice(0, 2 * TARGETS);
}

/** As many tickets in each window, and of each window some pages. */
function windowPages(content: SnapshotContent, windows: number): string[] {
  const updates = content.ticketUpdates();
  const size = Math.max(1, Math.floor(updates.length * WINDOW_SHARE));
  const all = Array.from({ length: windows }, (_, i) => {
    const first = Math.floor((i * (updates.length - size)) / windows);
    const filter = `updatedAt.gte=${instant(updates[first])}&updatedAt.lte=${instant(updates[first + size - 1])}&`;
    return pages(size, filter, SMALL_PAGE, PAGES_OF_WINDOW);
  });
  return [...new Set(all.flat())];
}

/** For a query, of microseconds. The sample has whole seconds. */
function instant(microseconds: number): string {
  return new Date(microseconds / 1000).toISOString();
}
