import type { Bound, CollectionName, ListOperation } from '../contract/operations.ts';
import { DEFAULT_PER_PAGE, type ParameterValue } from '../contract/parameter.ts';
import type { Instant } from '../contract/timestamp.ts';

/** What a query asks for, as plain data: the rows of `collection` that pass every predicate, one page of them. */
export interface Plan {
  readonly collection: CollectionName;
  readonly where: readonly Predicate[];
  /** What is cut out of the offers of the page. */
  readonly view: OfferView;
  readonly isPartialView: boolean;
  /** From 1. */
  readonly page: number;
  readonly perPage: number;
}

export type Predicate =
  | { readonly match: 'anyOf'; readonly index: string; readonly keys: readonly string[] }
  /** `from` ≤ instant < `until`; a bound that is not there does not bind. */
  | { readonly match: 'window'; readonly index: string; readonly from?: Instant; readonly until?: Instant };

export interface OfferView {
  /** Only the inventory of this session. */
  readonly inventoryOf?: string;
  /** Only the pricings whose `resaleEnabled` has this value. */
  readonly resaleEnabled?: boolean;
}

/** Makes the plan of a list operation from the valid values of the parameters given, by name. */
export function planList(operation: ListOperation, values: Readonly<Record<string, ParameterValue>>): Plan {
  const windows = new Map<string, { from?: Instant; until?: Instant }>();
  const where: Predicate[] = [];
  let view: OfferView = {};
  let page = 1;
  let perPage = DEFAULT_PER_PAGE;
  for (const { name, role } of operation.parameters) {
    if (!Object.hasOwn(values, name)) continue;
    const value = values[name];
    switch (role.is) {
      case 'page':
        page = numberOf(value);
        break;
      case 'perPage':
        perPage = numberOf(value);
        break;
      case 'contentDigest':
        // It names the store to read, which the plan is not about.
        break;
      case 'bound':
        windows.set(role.index, narrowed(windows.get(role.index), role.bound, instantOf(value)));
        break;
      case 'anyOf':
        where.push({ match: 'anyOf', index: role.index, keys: keysOf(value) });
        break;
      case 'inventoryOf':
        view = { ...view, inventoryOf: String(value) };
        break;
      case 'pricingOf':
        view = { ...view, resaleEnabled: value === true };
        where.push({ match: 'anyOf', index: role.index, keys: keysOf(value) });
        break;
    }
  }
  for (const [index, window] of windows) where.push({ match: 'window', index, ...window });
  const isPartialView = view.inventoryOf !== undefined || view.resaleEnabled !== undefined;
  return {
    collection: operation.collection,
    where,
    view,
    isPartialView,
    page,
    perPage,
  };
}

/** The keys of a value: of a list each of its elements once. */
function keysOf(value: ParameterValue): string[] {
  return typeof value === 'object' ? [...new Set(value)] : [String(value)];
}

function numberOf(value: ParameterValue): number {
  if (typeof value !== 'number') throw new TypeError(`not a number: ${String(value)}`);
  return value;
}

function instantOf(value: ParameterValue): Instant {
  if (typeof value !== 'bigint') throw new TypeError(`not an instant: ${String(value)}`);
  return value;
}

/** A window with one more bound. Instants are whole microseconds, so `gt` and `lte` move to the next one. */
function narrowed(
  { from, until }: { from?: Instant; until?: Instant } = {},
  bound: Bound,
  instant: Instant,
): { from?: Instant; until?: Instant } {
  if (bound === 'gt' || bound === 'gte') {
    const least = bound === 'gt' ? instant + 1n : instant;
    return { from: from === undefined || least > from ? least : from, ...(until !== undefined && { until }) };
  }
  const end = bound === 'lte' ? instant + 1n : instant;
  return { ...(from !== undefined && { from }), until: until === undefined || end < until ? end : until };
}
