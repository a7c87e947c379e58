import { PIN_NAME } from '../../contract/operations.ts';
import type { ListOperation } from '../../contract/operations.ts';
import type { Plan } from '../../query/plan.ts';
import type { Query } from '../checks/query-string.ts';

/** Parameters that the link names itself. */
const OWN: readonly string[] = ['page', 'perPage', PIN_NAME];

/**
 * Makes the link to the page after that of a plan: every parameter that the operation has and the query gave, then `page`, `perPage`
 * and the pin.
 *
 * @param address origin and path of the list
 * @param query a valid one
 * @param pin digest of the content that the pages are of
 */
export function nextPageLink(
  address: string,
  { parameters }: ListOperation,
  query: Query,
  { page, perPage }: Plan,
  pin: string,
): string {
  let kept = '';
  for (const [name, [value]] of query) {
    if (OWN.includes(name) || !parameters.some((parameter) => parameter.name === name)) continue;
    kept += `${name}=${encodeURIComponent(value)}&`;
  }
  return `${address}?${kept}page=${page + 1}&perPage=${perPage}&${PIN_NAME}=${pin}`;
}
