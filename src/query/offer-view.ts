import type { Fields } from '../contract/field.ts';
import { OFFER } from '../contract/resources.ts';
import type { OfferView } from './plan.ts';

/**
 * Cuts offers by searching their JSON text, without parsing it. A record is the output of JSON.stringify for the declared
 * fields in the declared order (docs/snapshot-format.md), so a mark such as `,"pricing":` occurs only where that field
 * begins: inside a string value every quote has a backslash before it, and no letter follows the closing quote.
 */

const TICKET = OFFER.variants['TICKET'];
const TICKET_MARK = Buffer.from(',"type":"TICKET"');
const PRICING = cutListOf('pricing', 'resaleEnabled');
const INVENTORY = cutListOf('inventory', 'sessionId');

/** The marks that delimit a list of TICKET offers and its elements. */
interface CutList {
  readonly opening: Buffer;
  /** End of the list and name of the next field; undefined for the last field. */
  readonly closing: Buffer | undefined;
  readonly element: Buffer;
  readonly nextElement: Buffer;
  /** Name of the field whose value decides whether an element stays. */
  readonly decider: string;
}

/**
 * Returns the JSON text of an offer as a partial view: segments that are views of the record.
 * Only TICKET offers are cut.
 * @throws TypeError when the record does not have the form that the snapshot format promises
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
 * Cuts one list: adds the text that stays to the segments, up to the last stretch.
 * @param from start of the text that is not in the segments yet
 * @returns start of the last stretch, which the next segment begins with
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
  if (opens < 0 || close < first) throw new TypeError(`an offer lacks ${String(opening)} in its place`);
  const list = text.subarray(0, close);
  const wanted = Buffer.from(decider + JSON.stringify(value));
  // The text from `from` to `end` stays, and becomes one segment.
  let end = first;
  for (let at = list.indexOf(wanted, first); at >= 0; at = list.indexOf(wanted, end)) {
    const start = list.lastIndexOf(element, at);
    // An element takes the comma before it along, except the first that stays.
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
  throw new TypeError(`${name} is not a list of objects`);
}
