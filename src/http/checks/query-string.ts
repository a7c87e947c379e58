import { Problem } from '../response/problem.ts';
import type { Parameter } from '../../contract/operations.ts';

/** The values given for each name, in the order of first appearance. */
export type Query = ReadonlyMap<string, readonly string[]>;

const NO_QUERY: Query = new Map();
const BROKEN_ENCODING = new Problem(
  400,
  'The query string has percent-encoding that is broken or not UTF-8.',
);

/**
 * Reads a query string (application/x-www-form-urlencoded: `+` is a blank), however many parameters it has.
 * @throws Problem 400 when its percent-encoding is broken or not UTF-8.
 */
export function parseQuery(text: string): Query {
  if (text === '') return NO_QUERY;
  const query = new Map<string, string[]>();
  const isEncoded = text.includes('%') || text.includes('+');
  for (const pair of text.split('&')) {
    const equals = pair.indexOf('=');
    let name = equals < 0 ? pair : pair.slice(0, equals);
    let value = equals < 0 ? '' : pair.slice(equals + 1);
    if (isEncoded) {
      name = decode(name);
      value = decode(value);
    }
    if (name === '') continue;
    const values = query.get(name);
    if (values === undefined) query.set(name, [value]);
    else values.push(value);
  }
  return query;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw BROKEN_ENCODING;
  }
}

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
