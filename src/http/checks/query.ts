import { Ajv, type ErrorObject, type FuncKeywordDefinition } from 'ajv';
import type { Parameter } from '../../contract/operations.ts';
import { EXISTING_KEYWORD, isList, joinList, type ParameterValue } from '../../contract/parameter.ts';
import { parseTimestamp } from '../../contract/timestamp.ts';
import { Problem, type Violation } from '../response/problem.ts';

/** The values of each parameter name, in the order of first appearance. */
export type Query = ReadonlyMap<string, readonly string[]>;

const INVALID_ENCODING = new Problem(
  400,
  'The query string contains invalid percent-encoding; it must be percent-encoded UTF-8.',
  { reason: 'query' },
);

/**
 * Parses a query string (application/x-www-form-urlencoded: `+` is a space) of any number of parameters.
 * @throws Problem 400 when its percent-encoding is invalid or not UTF-8
 */
export function parseQuery(text: string): Query {
  const query = new Map<string, string[]>();
  if (text === '') return query;
  const decodeIfEncoded = text.includes('%') || text.includes('+') ? decode : (raw: string) => raw;
  for (const pair of text.split('&')) {
    const equals = pair.indexOf('=');
    const name = decodeIfEncoded(equals < 0 ? pair : pair.slice(0, equals));
    const value = equals < 0 ? '' : decodeIfEncoded(pair.slice(equals + 1));
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
    throw INVALID_ENCODING;
  }
}

const MAX_LENGTH = 2000;
const SEPARATOR = ', ';
const ELLIPSIS = '...';

/**
 * Returns the header value with the parameters unknown to an operation; undefined without any. Names are
 * percent-encoded, and a long list is truncated.
 */
export function ignoredParameters(query: Query, parameters: readonly Parameter[]): string | undefined {
  let list = '';
  for (const name of query.keys()) {
    if (parameters.some((parameter) => parameter.name === name)) continue;
    const next = encodeURIComponent(name) + SEPARATOR;
    if (list.length + next.length + ELLIPSIS.length > MAX_LENGTH) return list + ELLIPSIS;
    list += next;
  }
  return list === '' ? undefined : list.slice(0, -SEPARATOR.length);
}

/** Validates a timestamp, and replaces it by its instant. Each timestamp is parsed once. */
const existing: FuncKeywordDefinition = {
  keyword: EXISTING_KEYWORD,
  type: 'string',
  schema: false,
  modifying: true,
  errors: false,
  validate: (
    text: string,
    context?: { parentData: Record<string, unknown>; parentDataProperty: string | number },
  ) => {
    const instant = parseTimestamp(text);
    if (instant !== undefined && context !== undefined)
      context.parentData[context.parentDataProperty] = instant;
    return instant !== undefined;
  },
};

/** The validator of all operations. The schemas themselves are tested, not validated at each start. */
const ajv = new Ajv({ allErrors: true, meta: false, validateSchema: false, keywords: [existing] });

export type ParameterValues = Readonly<Record<string, ParameterValue>>;

/**
 * Reads and validates the parameters that the operation declares, and ignores others. Only a list may be given several
 * times.
 * @param further violations that another check has found
 * @throws Problem 400 with all violations, in the order of the declaration, then the further ones
 */
export type QueryReader = (query: Query, further?: readonly Violation[]) => ParameterValues;

export function invalidQuery(errors: readonly Violation[]): Problem {
  return new Problem(400, 'The query is invalid; see errors.', { errors, reason: 'query' });
}

const GIVEN_TWICE = 'must be given only once';

export function queryReader(parameters: readonly Parameter[]): QueryReader {
  const kinds = new Map(parameters.map(({ name, kind }) => [name, kind]));
  const validate = ajv.compile<ParameterValues>({
    type: 'object',
    properties: Object.fromEntries(parameters.map(({ name, kind }) => [name, kind.schema])),
  });

  return (query, further = []) => {
    const values: Record<string, ParameterValue> = {};
    let isRepeated = false;
    for (const [name, texts] of query) {
      const kind = kinds.get(name);
      if (kind === undefined) continue;
      isRepeated ||= texts.length > 1 && !isList(kind);
      values[name] = kind.read(joinList(texts));
    }
    if (validate(values) && !isRepeated && further.length === 0) return values;
    throw invalidQuery([...violationsOf(query, validate.errors ?? []), ...further]);
  };

  function violationsOf(query: Query, failures: readonly ErrorObject[]): Violation[] {
    return parameters.flatMap(({ name, kind }) => {
      const texts = query.get(name) ?? [];
      const input = joinList(texts);
      const violated = failures
        .filter(({ instancePath }) => instancePath.split('/')[1] === name)
        .map(({ keyword }) => kind.ctx(keyword, input));
      const all = texts.length > 1 && !isList(kind) ? [GIVEN_TWICE] : new Set(violated);
      return Array.from(all, (ctx) => ({ loc: `query.${name}`, input, ctx }));
    });
  }
}
