import type { Fields } from '../contract/field.ts';
import { OFFER } from '../contract/resources.ts';
import type { OfferView } from './plan.ts';

/**
 * Offers are cut by what is found in their text; nothing is parsed. A record is what JSON.stringify writes of the
 * declared fields in the declared order (docs/snapshot-format.md). So whatever its texts say, a mark such as
 * `,"pricing":` is found only where that name stands: within a text each quote has a backslash before it, and the
 * quote that ends a text has no letter behind it.
 */

const TICKET = OFFER.variants['TICKET'];
const TICKET_MARK = Buffer.from(',"type":"TICKET"');
const PRICING = cutListOf('pricing', 'resaleEnabled');
const INVENTORY = cutListOf('inventory', 'sessionId');

/** The marks of a list of TICKET offers. */
interface CutList {
  readonly opening: Buffer;
  /** What the offer goes on with; undefined for its last field. */
  readonly closing: Buffer | undefined;
  readonly element: Buffer;
  readonly nextElement: Buffer;
  /** What stands before the value that decides whether an element stays. */
  readonly decider: string;
}

/**
 * The JSON text of an offer cut down to a view, in segments: the record's own bytes, in views of it.
 * Only TICKET offers are cut.
 * @throws TypeError when the record is not of the form that the snapshot format promises
 */
export function offerSegments(text: Buffer, { inventoryOf, resaleEnabled }: OfferView): readonly Buffer[] {
  if (!text.includes(TICKET_MARK)) return [text];
  const segments: Buffer[] = [];
  let from = 0;
  if (resaleEnabled !== undefined) from = cutList(PRICING, resaleEnabled, text, from, segments);
  if (inventoryOf !== undefined) from = cutList(INVENTORY, inventoryOf, text, from, segments);
  segments.push(text.subarray(from));
  return segments;
}

/**
 * Adds to the segments what stays of a text up to the end of a list, but for the last stretch.
 * @param from where what is not in the segments yet begins
 * @returns where that begins now
 */
function cutList(
  { opening, closing, element, nextElement, decider }: CutList,
  value: string | boolean,
  text: Buffer,
  from: number,
  segments: Buffer[],
): number {
  const opens = text.indexOf(opening, from);
  const first = opens + opening.length;
  const close = closing === undefined ? text.length - ']}'.length : text.indexOf(closing, first);
  if (opens < 0 || close < first)
    throw new TypeError(`an offer has no ${String(opening)} where it should be`);
  const list = text.subarray(0, close);
  const wanted = Buffer.from(decider + JSON.stringify(value));
  // All that stays from `from` up to here is one segment.
  let end = first;
  for (let at = list.indexOf(wanted, first); at >= 0; at = list.indexOf(wanted, end)) {
    const start = list.lastIndexOf(element, at);
    // The comma before an element comes with it, unless it is the first that stays.
    const begin = end === first ? start : start - 1;
    if (begin > end) {
      segments.push(text.subarray(from, end));
      from = begin;
    }
    const next = list.indexOf(nextElement, at);
    end = next < 0 ? close : next + 1;
  }
  if (end === close) return from;
  segments.push(text.subarray(from, end));
  return close;
}

function cutListOf(name: string, decider: string): CutList {
  const names = Object.keys(TICKET);
  const following = names.at(names.indexOf(name) + 1);
  const [firstField] = Object.keys(elementFields(name));
  return {
    opening: Buffer.from(`,"${name}":[`),
    closing: following === undefined ? undefined : Buffer.from(`],"${following}":`),
    element: Buffer.from(`{"${firstField}":`),
    nextElement: Buffer.from(`},{"${firstField}":`),
    decider: `,"${decider}":`,
  };
}

function elementFields(name: string): Fields {
  const { shape } = TICKET[name];
  if (shape.kind === 'list' && shape.items.kind === 'object') return shape.items.fields;
  throw new TypeError(`${name} is no list of objects`);
}
