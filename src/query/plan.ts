import type { Bound, CollectionName, ListOperation, Role } from '../contract/operations.ts';
import { DEFAULT_PER_PAGE, splitList } from '../contract/parameter.ts';
import type { ParameterKind } from '../contract/parameter.ts';
import { parseTimestamp } from '../contract/timestamp.ts';
import type { Instant } from '../contract/timestamp.ts';

/** What a query asks for, as plain data: the rows of `collection` that pass every predicate, one page of them. */
export interface Plan {
  readonly collection: CollectionName;
  readonly where: readonly Predicate[];
  /** What is cut out of the offers of the page. */
  readonly view: OfferView;
  readonly isPartialView: boolean;
  /** From 1; Infinity when its digits are past what a number holds. */
  readonly page: number;
  readonly perPage: number;
  /** Digest of the content to read, when that is still there. */
  readonly pin?: string;
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

/** The plan of a list operation. `values` holds the parameters given, by name, valid by their kinds' rules. */
export function planList(operation: ListOperation, values: ReadonlyMap<string, string>): Plan {
  const windows = new Map<string, { from?: Instant; until?: Instant }>();
  const where: Predicate[] = [];
  let view: OfferView = {};
  let page = 1;
  let perPage = DEFAULT_PER_PAGE;
  let pin: string | undefined;
  for (const { name, kind, role } of operation.parameters) {
    const text = values.get(name);
    if (text === undefined) continue;
    switch (role.is) {
      case 'page':
        page = Number(text);
        break;
      case 'perPage':
        perPage = Number(text);
        break;
      case 'pin':
        pin = text;
        break;
      case 'bound':
        windows.set(role.index, narrowed(windows.get(role.index), role.bound, text));
        break;
      case 'anyOf':
        where.push({ match: 'anyOf', index: role.index, keys: keysOf(role, kind, text) });
        break;
      case 'inventoryOf':
        view = { ...view, inventoryOf: text };
        break;
      case 'pricingOf':
        view = { ...view, resaleEnabled: text === 'true' };
        where.push({ match: 'anyOf', index: role.index, keys: [text] });
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
    ...(pin !== undefined && { pin }),
  };
}

function keysOf(role: Role & { is: 'anyOf' }, kind: ParameterKind, text: string): string[] {
  const values = role.list ? splitList(text) : [text];
  return [...new Set(values.map((value) => kind.normalize?.(value) ?? value))];
}

/** A window with one more bound. Instants are whole microseconds, so `gt` and `lte` move to the next one. */
function narrowed(
  { from, until }: { from?: Instant; until?: Instant } = {},
  bound: Bound,
  text: string,
): { from?: Instant; until?: Instant } {
  const instant = parseTimestamp(text);
  if (instant === undefined) throw new TypeError(`not a timestamp: ${text}`);
  if (bound === 'gt' || bound === 'gte') {
    const least = bound === 'gt' ? instant + 1n : instant;
    return { from: from === undefined || least > from ? least : from, ...(until !== undefined && { until }) };
  }
  const end = bound === 'lte' ? instant + 1n : instant;
  return { ...(from !== undefined && { from }), until: until === undefined || end < until ? end : until };
}
