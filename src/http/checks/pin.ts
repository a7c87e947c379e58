import { monotonicNow } from '../../clock.ts';
import { CONTENT_DIGEST_PARAMETER } from '../../contract/operations.ts';
import type { ValidKey } from '../../keys/key-ring.ts';
import { type ListName, noteUse, type SectionImage } from '../../store/organization-image.ts';
import { type ServedDigests, wasServed } from '../../store/registry/served-digests.ts';
import { keyOf } from '../../store/registry/store-view.ts';
import type { RequestContext } from '../request-context.ts';
import { type Problem, retryLater } from '../response/problem.ts';
import { invalidQuery, type Query, type QueryReader } from './query.ts';

/** Time for which unknown content may still be loaded, since a key first requested it. */
const LOAD_WAIT_MS = 30_000;
/** Maximum number of remembered names for each key, and of keys with such names. */
const MAX_NAMES = 64;
const MAX_KEYS = 4096;
/** Time for which a name is remembered at least after its wait, so that its client gets the refusal. */
const REMEMBERED_MS = 30_000;

const GONE = 'is no longer available: begin again without this parameter';

/** The link may come from another replica, which has loaded newer data before this one. */
const NOT_LOADED = retryLater(
  'list-not-loaded',
  'The data to which the link belongs is not loaded yet. Try again later.',
  1,
);

/**
 * Decides on pins, the content digests in links, whose content is neither live nor retained. Content that was served
 * before is gone. Other content may still arrive for a time after the first request for it, and then counts as gone; at
 * once, while too many others are awaited: no request prolongs the wait of another one. Organizations do not affect each
 * other: a digest of another organization is one that was never served.
 */
export class Pins {
  readonly #served: ServedDigests;
  readonly #clock: () => number;
  /** By id of the key, then by name: time at which the wait ends. */
  readonly #ends = new Map<string, Map<string, number>>();

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
    caller: ValidKey,
    list: ListName,
    query: Query,
    read: QueryReader,
  ): Problem {
    const pin = query.values.get(CONTENT_DIGEST_PARAMETER)?.at(0) ?? '';
    const violation = { loc: `query.${CONTENT_DIGEST_PARAMETER}`, input: pin, ctx: GONE };
    const isServed = wasServed(this.#served, keyOf(caller.organizationId, { name: list, digest: pin }));
    if (isServed) context.pin = 'gone';
    read(query, isServed ? [violation] : []);
    context.pin = this.mayArrive(caller, pin, LOAD_WAIT_MS) ? 'not-loaded' : 'gone';
    return context.pin === 'gone' ? invalidQuery([violation]) : NOT_LOADED;
  }

  /** Returns whether a key waits for data that another replica may have, since its first request for it. */
  mayArrive({ keyId }: ValidKey, name: string, waitMs: number): boolean {
    const now = this.#clock();
    const isPast = (end: number) => now >= end + REMEMBERED_MS;
    const none = new Map<string, number>();
    const names = kept(this.#ends, keyId, none, MAX_KEYS, (ends) => ends.values().every(isPast));
    const end = names && kept(names, name, now + waitMs, MAX_NAMES, isPast);
    return end !== undefined && now < end;
  }
}

/** Returns the value of a key. Without one, adds `value`, in a full map in place of one that is past, if any. */
function kept<V>(
  map: Map<string, V>,
  key: string,
  value: V,
  maxSize: number,
  isPast: (value: V) => boolean,
): V | undefined {
  const found = map.get(key);
  if (found !== undefined) return found;
  if (map.size >= maxSize) {
    const past = map.entries().find(([, each]) => isPast(each));
    if (past === undefined) return undefined;
    map.delete(past[0]);
  }
  map.set(key, value);
  return value;
}
