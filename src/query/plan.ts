import type { Bound, CollectionName, ListOperation } from '../contract/operations.ts';
import { DEFAULT_PER_PAGE, type ParameterValue } from '../contract/parameter.ts';
import type { Instant } from '../contract/timestamp.ts';

/** A list query as plain data: one page of the rows of `collection` that pass every predicate. */
export interface Plan {
  readonly collection: CollectionName;
  readonly where: readonly Predicate[];
  readonly view?: OfferView;
  /** From 1. */
  readonly page: number;
  readonly perPage: number;
}

export type Predicate =
  | { readonly match: 'anyOf'; readonly index: string; readonly keys: readonly string[] }
  | ({ readonly match: 'window'; readonly index: string } & InstantBounds);

/** Bounds of instants: `from` ≤ instant < `until`. An absent bound does not restrict. */
interface InstantBounds {
  readonly from?: Instant;
  readonly until?: Instant;
}

/** The parts of TICKET offers that a partial view keeps. */
export interface OfferView {
  /** Keeps the inventory of this session only. */
  readonly inventoryOf?: string;
  /** Keeps the pricings with this `resaleEnabled` only. */
  readonly resaleEnabled?: boolean;
}

/** Plans a list operation from its valid parameter values, by parameter name. */
export function planList(operation: ListOperation, values: Readonly<Record<string, ParameterValue>>): Plan {
  const windows = new Map<string, InstantBounds>();
  const where: Predicate[] = [];
  let view: OfferView | undefined;
  const paging = { page: 1, perPage: DEFAULT_PER_PAGE };
  for (const { name, role } of operation.parameters) {
    if (!Object.hasOwn(values, name)) continue;
    const value = values[name];
    switch (role.is) {
      case 'page':
      case 'perPage':
        paging[role.is] = numberOf(value);
        break;
      case 'contentDigest':
        // Selects the content, not its rows.
        break;
      case 'bound':
        windows.set(role.index, narrowed(windows.get(role.index) ?? {}, role.bound, instantOf(value)));
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
  // Both bounds of a window form one predicate: a record with several instants must have an instant between both
  // bounds.
  for (const [index, window] of windows) where.push({ match: 'window', index, ...window });
  return { collection: operation.collection, where, ...(view && { view }), ...paging };
}

/** Returns the values of a list or of one value, each once. */
export function keysOf(value: ParameterValue): string[] {
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

/** Returns a window with a further bound. Instants are whole microseconds, so `gt` and `lte` use the next instant. */
function narrowed(window: InstantBounds, bound: Bound, instant: Instant): InstantBounds {
  const limit = bound === 'gt' || bound === 'lte' ? instant + 1n : instant;
  const { from = limit, until = limit } = window;
  return bound === 'gt' || bound === 'gte'
    ? { ...window, from: limit > from ? limit : from }
    : { ...window, until: limit < until ? limit : until };
}
