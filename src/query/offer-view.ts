import type { Fields } from '../contract/field.ts';
import { OFFER } from '../contract/resources.ts';
import { lengthOfRanges } from '../store/index/wavelet-matrix.ts';
import type { OfferView } from './plan.ts';

/**
 * Filters lists of offers by searching their JSON text, without parsing it. A record is the output of JSON.stringify
 * for the declared fields in the declared order (docs/snapshot-format.md). So a delimiter such as `,"pricing":`
 * occurs only where the field begins. In a string value, a backslash precedes every quote, and no letter follows the
 * closing quote.
 */

const TICKET = OFFER.variants['TICKET'];
const TICKET_TYPE = Buffer.from(',"type":"TICKET"');
const PRICING = listDelimiters('pricing', 'resaleEnabled');
const INVENTORY = listDelimiters('inventory', 'sessionId');

/**
 * Returns the partial view of an offer: the record itself, or a copy of its kept parts.
 * Only TICKET offers are filtered.
 * @throws TypeError when the record does not have the form that the snapshot format specifies
 */
export function cutOffer(text: Buffer, { inventoryOf, resaleEnabled }: OfferView): Buffer {
  if (!text.includes(TICKET_TYPE)) return text;
  /** Start and end of each kept part, in turn. The end of the last one is pending. */
  const bounds = [0];
  if (resaleEnabled !== undefined) filterList(PRICING, resaleEnabled, text, bounds);
  if (inventoryOf !== undefined) filterList(INVENTORY, inventoryOf, text, bounds);
  if (bounds.length === 1) return text;
  bounds.push(text.length);
  const cut = Buffer.allocUnsafe(lengthOfRanges(bounds));
  let end = 0;
  for (let i = 0; i < bounds.length; i += 2) end += text.copy(cut, end, bounds[i], bounds[i + 1]);
  return cut;
}

/** Filters a list. Appends the bounds of what is left out of it. */
function filterList(
  { opening, closing, element, nextElement, filterField }: ReturnType<typeof listDelimiters>,
  value: string | boolean,
  text: Buffer,
  bounds: number[],
): void {
  const opens = text.indexOf(opening, bounds.at(-1));
  const first = opens + opening.length;
  const close = closing === undefined ? text.length - ']}'.length : text.indexOf(closing, first);
  if (opens < 0 || close < first) throw new TypeError(`an offer lacks ${String(opening)} in its place`);
  const list = text.subarray(0, close);
  const wanted = Buffer.from(filterField + JSON.stringify(value));
  // The text up to here is kept.
  let end = first;
  for (let at = list.indexOf(wanted, first); at >= 0; at = list.indexOf(wanted, end)) {
    const start = list.lastIndexOf(element, at);
    // A kept element includes the comma before it, except the first one.
    const begin = end === first ? start : start - 1;
    if (begin > end) bounds.push(end, begin);
    const next = list.indexOf(nextElement, at);
    end = next < 0 ? close : next + 1;
  }
  if (end < close) bounds.push(end, close);
}

function listDelimiters(name: string, filterField: string) {
  const names = Object.keys(TICKET);
  const following = names.at(names.indexOf(name) + 1);
  const [firstField] = Object.keys(elementFields(name));
  return {
    opening: Buffer.from(`,"${name}":[`),
    /** End of the list and name of the next field; undefined for the last field. */
    closing: following === undefined ? undefined : Buffer.from(`],"${following}":`),
    element: Buffer.from(`{"${firstField}":`),
    nextElement: Buffer.from(`},{"${firstField}":`),
    /** The field that elements are filtered by, such as `,"sessionId":`. */
    filterField: `,"${filterField}":`,
  };
}

function elementFields(name: string): Fields {
  const { shape } = TICKET[name];
  if (shape.kind === 'list' && shape.items.kind === 'object') return shape.items.fields;
  throw new TypeError(`${name} is not a list of objects`);
}
