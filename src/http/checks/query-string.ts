import { Problem } from '../response/problem.ts';

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
