import type { Plan } from '../query/plan.ts';
import type { ParameterValues } from './validate-query.ts';

/**
 * The link to the page after that of a plan: every parameter given, then `page` and `perPage`.
 *
 * @param address origin and path of the list
 */
export function nextPageLink(address: string, values: ParameterValues, { page, perPage }: Plan): string {
  let query = '';
  for (const [name, value] of values) {
    if (name !== 'page' && name !== 'perPage') query += `${name}=${encodeURIComponent(value)}&`;
  }
  return `${address}?${query}page=${page + 1}&perPage=${perPage}`;
}
