import { PIN_NAME } from '../contract/operations.ts';
import type { Plan } from '../query/plan.ts';
import type { ParameterValues } from './validate-query.ts';

/**
 * The link to the page after that of a plan: every parameter given, then `page`, `perPage` and the pin.
 *
 * @param address origin and path of the list
 * @param pin digest of the content that the walk is on
 */
export function nextPageLink(
  address: string,
  values: ParameterValues,
  { page, perPage }: Plan,
  pin: string,
): string {
  let query = '';
  for (const [name, value] of values) {
    if (name !== 'page' && name !== 'perPage' && name !== PIN_NAME)
      query += `${name}=${encodeURIComponent(value)}&`;
  }
  return `${address}?${query}page=${page + 1}&perPage=${perPage}&${PIN_NAME}=${pin}`;
}
