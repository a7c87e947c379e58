import { Ajv } from 'ajv';
import {
  IGNORED_PARAMETERS_HEADER,
  MAX_IGNORED_LENGTH,
  PREFERENCE_APPLIED_HEADER,
  STRICT_HANDLING,
} from '../../contract/headers.ts';
import type { Parameter } from '../../contract/operations.ts';
import { INSTANT, isList, joinList, type ParameterValue } from '../../contract/parameter.ts';
import { type HeaderList, Problem, type Violation } from '../response/problem.ts';

/** The query of a request, divided by the parameters of its operation. */
export interface Query {
  /** The values of each parameter that the operation has, in the order of first appearance. */
  readonly values: ReadonlyMap<string, readonly string[]>;
  /** Values that cannot be decoded and, with strict handling, parameters that the operation lacks. */
  readonly violations: readonly Violation[];
  /** The response headers that name the parameters without effect, or that these are violations. */
  readonly headers: HeaderList;
}

/**
 * Parses a query string (application/x-www-form-urlencoded: `+` is a space) of any number of parameters.
 * @param prefer header of the request; `handling=strict` (RFC 7240) permits no parameters but those of the operation
 */
export function parseQuery(text: string, parameters: readonly Parameter[], prefer?: string): Query {
  const values = new Map<string, string[]>();
  const violations: Violation[] = [];
  const others = new Map<string, string>();
  const decode = decoder();
  for (const pair of text === '' ? [] : text.split('&')) {
    const equals = pair.indexOf('=');
    const rawName = equals < 0 ? pair : pair.slice(0, equals);
    const rawValue = equals < 0 ? '' : pair.slice(equals + 1);
    const name = decode(rawName) ?? rawName;
    if (name === '') continue;
    const parameter = parameters.find((one) => one.name === name);
    if (parameter === undefined && others.size === MAX_OTHERS) continue;
    const value = decode(rawValue);
    if (parameter === undefined) others.set(name, value ?? rawValue);
    else if (value === undefined)
      violations.push({ loc: `query.${name}`, input: rawValue, ctx: NOT_DECODED });
    // An importer of the OpenAPI document may send an empty default, which is the same as none.
    else if (value !== parameter.kind.schema['default'] && !values.get(name)?.push(value))
      values.set(name, [value]);
  }
  if (!isStrict(prefer))
    return { values, violations, headers: others.size === 0 ? [] : ignoredHeader(others.keys()) };
  const names = parameters.map(({ name }) => name).join(', ') || 'none';
  for (const [name, input] of others.entries().take(MAX_OTHER_VIOLATIONS))
    violations.push({
      loc: `query.${name}`,
      input,
      ctx: `is not one of the parameters of this operation: ${names}`,
    });
  return { values, violations, headers: [PREFERENCE_APPLIED_HEADER, STRICT_HANDLING] };
}

const NOT_DECODED = 'must be percent-encoded UTF-8; encode % as %25';
/** Maximum number of parts that are found not to decode. Further ones with an escape count as such: an error takes long. */
const MAX_UNDECODABLE = 16;

/** Returns a function that decodes a part, and returns undefined if it is not percent-encoded UTF-8. */
function decoder(): (text: string) => string | undefined {
  let left = MAX_UNDECODABLE;
  return (text) => {
    const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text;
    if (!spaced.includes('%')) return spaced;
    if (left === 0) return undefined;
    try {
      return decodeURIComponent(spaced);
    } catch {
      left--;
      return undefined;
    }
  };
}

/** Returns whether the first preference for a handling is strict. Node joins repeated headers with a comma. */
function isStrict(prefer = ''): boolean {
  if (prefer === '') return false;
  const plain = prefer.replace(/"[^"]*"?/g, (quoted) => (quoted === '"strict"' ? 'strict' : '?'));
  const handling = plain.split(',').find((preference) => /^\s*handling\s*(?:[=;]|$)/i.test(preference));
  return /^[^=]*=\s*strict\s*(?:;|$)/.test(handling ?? '');
}

/** Maximum number of remembered parameters that an operation lacks, more than the header names. */
const MAX_OTHERS = 200;
const MAX_OTHER_VIOLATIONS = 100;

/** Returns the header that names ignored parameters, percent-encoded; a long list is truncated. */
function ignoredHeader(names: Iterable<string>): HeaderList {
  const list = Array.from(names, encodeURIComponent).join(', ');
  if (list.length <= MAX_IGNORED_LENGTH) return [IGNORED_PARAMETERS_HEADER, list];
  const end = list.lastIndexOf(', ', MAX_IGNORED_LENGTH - '...'.length - 2) + 2;
  return [IGNORED_PARAMETERS_HEADER, `${end < 2 ? '' : list.slice(0, end)}...`];
}

/** The validator of all operations. The schemas themselves are tested, not validated at each start. */
const ajv = new Ajv({ meta: false, validateSchema: false, strictSchema: false });

export type ParameterValues = Readonly<Record<string, ParameterValue>>;

/**
 * Reads and validates the parameters of the operation. Only a list may be given several times.
 * @param further violations that another check has found
 * @throws Problem 400 with a violation of each invalid parameter, in the order of the declaration, then those of parsing and
 *   the further ones
 */
export type QueryReader = (
  query: Pick<Query, 'values' | 'violations'>,
  further?: readonly Violation[],
) => ParameterValues;

/** @param loc locations for the log, which has no names that a client chose; by default, those of all errors */
export function invalidQuery(errors: readonly Violation[], loc = errors.map((error) => error.loc)): Problem {
  return new Problem(400, 'The query is invalid; see errors.', { errors, reason: 'query', loc });
}

const GIVEN_TWICE = 'must be given only once';

export function queryReader(parameters: readonly Parameter[]): QueryReader {
  const names = new Set(parameters.map(({ name }) => name));
  const checks = parameters.map(({ name, kind }) => {
    // An instant is a bigint, which has no type in a schema.
    return { name, kind, validate: kind === INSTANT ? undefined : ajv.compile(kind.schema) };
  });

  return ({ values: texts, violations: ofParsing }, further = []) => {
    const values: Record<string, ParameterValue> = {};
    const all: Violation[] = [];
    for (const { name, kind, validate } of checks) {
      const parts = texts.get(name);
      if (parts === undefined) continue;
      const input = joinList(parts);
      const isRepeated = parts.length > 1 && !isList(kind);
      const value = isRepeated ? undefined : kind.read(input);
      if (value !== undefined && (validate?.(value) ?? true)) values[name] = value;
      else {
        const keyword = value === undefined ? '' : validate?.errors?.at(0)?.keyword;
        const ctx = isRepeated ? GIVEN_TWICE : kind.ctx(keyword ?? '', input);
        all.push({ loc: `query.${name}`, input, ctx });
      }
    }
    all.push(...ofParsing, ...further);
    if (all.length === 0) return values;
    const errors = Array.from(Map.groupBy(all, ({ loc }) => loc).values(), ([first]) => first);
    const known = errors.map(({ loc }) => loc).filter((loc) => names.has(loc.slice('query.'.length)));
    throw invalidQuery(errors, known);
  };
}
