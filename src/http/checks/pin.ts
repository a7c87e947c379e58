import { monotonicNow } from '../../clock.ts';
import { CONTENT_DIGEST_PARAMETER } from '../../contract/operations.ts';
import { type ListName, noteUse, type SectionImage } from '../../store/organization-image.ts';
import { type ServedDigests, wasServed } from '../../store/registry/served-digests.ts';
import { keyOf } from '../../store/registry/store-view.ts';
import type { RequestContext } from '../request-context.ts';
import { type Problem, retryLater } from '../response/problem.ts';
import { invalidQuery, type Query, type QueryReader } from './query.ts';

/** Time for which unknown content may still be loaded, since it was first requested. */
const LOAD_WAIT_MS = 30_000;
/** Maximum number of remembered names for each organization, and of organizations with such names. */
const MAX_NAMES = 64;
const MAX_ORGANIZATIONS = 4096;

const GONE = 'is no longer available: begin again without this parameter';

/** The link may come from another replica, which has loaded newer data before this one. */
const NOT_LOADED = retryLater(
  'list-not-loaded',
  'The data to which the link belongs is not loaded yet. Try again later.',
  1,
);

/**
 * Decides on pins, the content digests in links, whose content is neither live nor retained. Content that was served
 * before is gone. Other content may still arrive for a time after the first request for it, and then counts as gone.
 * Organizations do not affect each other: a digest of another organization is one that was never served.
 */
export class Pins {
  readonly #served: ServedDigests;
  readonly #clock: () => number;
  /** By organization, then by name: time of the first request. The oldest are first, and are evicted first. */
  readonly #firstRequests = new Map<string, Map<string, number>>();

  /**
   * @param served of `newServedDigests`, shared by all threads
   * @param clock milliseconds of the monotonic clock
   */
  constructor(served: ServedDigests, clock = monotonicNow) {
    this.#served = served;
    this.#clock = clock;
  }

  /** Notes that a response leads to a further request of a section. */
  noteUse(image: SectionImage): void {
    noteUse(image, this.#clock());
  }

  /**
   * Returns the refusal of a request whose pin is neither that of the live list nor of a retained one: 429 if its
   * content may arrive, 400 otherwise.
   * @throws Problem 400 with all violations of an invalid query
   */
  refusal(
    context: RequestContext,
    organizationId: string,
    list: ListName,
    query: Query,
    read: QueryReader,
  ): Problem {
    const pin = query.values.get(CONTENT_DIGEST_PARAMETER)?.at(0) ?? '';
    const violation = { loc: `query.${CONTENT_DIGEST_PARAMETER}`, input: pin, ctx: GONE };
    const isServed = wasServed(this.#served, keyOf(organizationId, { name: list, digest: pin }));
    if (isServed) context.pin = 'gone';
    read(query, isServed ? [violation] : []);
    context.pin = this.mayArrive(organizationId, pin, LOAD_WAIT_MS) ? 'not-loaded' : 'gone';
    return context.pin === 'gone' ? invalidQuery([violation]) : NOT_LOADED;
  }

  /** Returns whether this replica may load data that another one has: for a time after the first request for it. */
  mayArrive(organizationId: string, name: string, waitMs: number): boolean {
    const names = keptValue(
      this.#firstRequests,
      organizationId,
      new Map<string, number>(),
      MAX_ORGANIZATIONS,
    );
    const now = this.#clock();
    return now - keptValue(names, name, now, MAX_NAMES) < waitMs;
  }
}

/** Returns the value of a key. Without one, adds `value`, in place of the oldest entry when the map is full. */
function keptValue<V>(map: Map<string, V>, key: string, value: V, maxSize: number): V {
  const kept = map.get(key);
  if (kept !== undefined) return kept;
  const [oldest] = map.keys();
  if (map.size >= maxSize) map.delete(oldest);
  map.set(key, value);
  return value;
}
