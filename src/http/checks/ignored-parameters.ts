import type { Parameter } from '../../contract/operations.ts';
import type { Query } from './query-string.ts';

const MAX_LENGTH = 2000;
const SEPARATOR = ', ';
const ELLIPSIS = '...';

/**
 * The names of a query that an operation does not have, as the header tells them: percent-encoded, each once,
 * cut when they are too many. Undefined when there are none.
 */
export function ignoredParameters(query: Query, parameters: readonly Parameter[]): string | undefined {
  if (query.size === 0) return undefined;
  let list = '';
  for (const name of query.keys()) {
    if (parameters.some((parameter) => parameter.name === name)) continue;
    const next = encodeURIComponent(name) + SEPARATOR;
    if (list.length + next.length + ELLIPSIS.length > MAX_LENGTH) return list + ELLIPSIS;
    list += next;
  }
  return list === '' ? undefined : list.slice(0, -SEPARATOR.length);
}
