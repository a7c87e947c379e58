import { isUtf8 } from 'node:buffer';
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
  const undecodable = new Map<string, string[]>();
  const others = new Map<string, string>();
  const isSound = isDecodable(text);
  for (const pair of text === '' ? [] : text.split('&')) {
    const equals = pair.indexOf('=');
    const rawName = equals < 0 ? pair : pair.slice(0, equals);
    const rawValue = equals < 0 ? '' : pair.slice(equals + 1);
    const name = decode(rawName, isSound) ?? rawName;
    if (name === '') continue;
    const value = decode(rawValue, isSound);
    const parameter = parameters.find((one) => one.name === name);
    if (parameter === undefined) others.set(name, value ?? rawValue);
    else if (value === undefined) undecodable.set(name, [...(undecodable.get(name) ?? []), rawValue]);
    // An importer of the OpenAPI document may send an empty default, which is the same as none.
    else if (value === parameter.kind.schema['default']) continue;
    else if (!values.get(name)?.push(value)) values.set(name, [value]);
  }
  const violations: Violation[] = [];
  for (const [name, raw] of undecodable)
    violations.push({
      loc: `query.${name}`,
      input: joinList(raw),
      ctx: 'must be percent-encoded UTF-8; encode % as %25',
    });
  if (!isStrict(prefer))
    return { values, violations, headers: others.size === 0 ? [] : ignoredHeader(others.keys()) };
  const names = parameters.map(({ name }) => name).join(', ') || 'none';
  for (const [name, input] of others.entries().take(MAX_OTHERS))
    violations.push({
      loc: `query.${name}`,
      input,
      ctx: `is not one of the parameters of this operation: ${names}`,
    });
  return { values, violations, headers: [PREFERENCE_APPLIED_HEADER, STRICT_HANDLING] };
}

function isDecodable(text: string): boolean {
  try {
    return !text.includes('%') || decodeURIComponent(text) !== '';
  } catch {
    return false;
  }
}

/**
 * Returns undefined for text that is not percent-encoded UTF-8.
 * @param isSound whether the whole query is; otherwise, an exception for each part would take ten times as long
 */
function decode(text: string, isSound: boolean): string | undefined {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text;
  if (!spaced.includes('%')) return spaced;
  if (isSound) return decodeURIComponent(spaced);
  if (/%(?![0-9a-f]{2})/i.test(spaced)) return undefined;
  const octets = spaced.replace(/%(..)/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
  const bytes = Buffer.from(octets, 'latin1');
  return isUtf8(bytes) ? bytes.toString() : undefined;
}

/** Returns whether the first preference for a handling is strict. Node joins repeated headers with a comma. */
function isStrict(prefer = ''): boolean {
  if (prefer === '') return false;
  const plain = prefer.replace(/"[^"]*"?/g, (quoted) => (quoted === '"strict"' ? 'strict' : '?'));
  const handling = plain.split(',').find((preference) => /^\s*handling\s*(?:[=;]|$)/i.test(preference));
  return /^[^=]*=\s*strict\s*(?:;|$)/.test(handling ?? '');
}

/** Maximum number of violations for parameters that an operation lacks. */
const MAX_OTHERS = 100;

/** Returns the header that names ignored parameters, percent-encoded; a long list is truncated. */
function ignoredHeader(names: Iterable<string>): HeaderList {
  const list = Array.from(names, encodeURIComponent).join(', ');
  if (list.length <= MAX_IGNORED_LENGTH) return [IGNORED_PARAMETERS_HEADER, list];
  const end = list.lastIndexOf(', ', MAX_IGNORED_LENGTH - '...'.length - 2) + 2;
  return [IGNORED_PARAMETERS_HEADER, `${end < 2 ? '' : list.slice(0, end)}...`];
}

/** The validator of all operations. The schemas themselves are tested, not validated at each start. */
const ajv = new Ajv({ allErrors: true, meta: false, validateSchema: false, strictSchema: false });

export type ParameterValues = Readonly<Record<string, ParameterValue>>;

/**
 * Reads and validates the parameters of the operation. Only a list may be given several times.
 * @param further violations that another check has found
 * @throws Problem 400 with all violations, in the order of the declaration, then those of parsing and the further ones
 */
export type QueryReader = (
  query: Pick<Query, 'values' | 'violations'>,
  further?: readonly Violation[],
) => ParameterValues;

/** @param loc locations for the log, which has no names that a client chose; by default, those of all errors */
export function invalidQuery(errors: readonly Violation[], loc?: readonly string[]): Problem {
  return new Problem(400, 'The query is invalid; see errors.', {
    errors,
    reason: 'query',
    ...(loc && { loc }),
  });
}

const GIVEN_TWICE = 'must be given only once';

export function queryReader(parameters: readonly Parameter[]): QueryReader {
  const kinds = new Map(parameters.map(({ name, kind }) => [name, kind]));
  // An instant is a bigint, which has no type in a schema.
  const validated = parameters.filter(({ kind }) => kind !== INSTANT);
  const validate = ajv.compile<ParameterValues>({
    type: 'object',
    properties: Object.fromEntries(validated.map(({ name, kind }) => [name, kind.schema])),
  });

  return ({ values: texts, violations: ofParsing }, further = []) => {
    const values: Record<string, ParameterValue> = {};
    const unreadable: string[] = [];
    let isRepeated = false;
    for (const [name, parts] of texts) {
      const kind = kinds.get(name);
      if (kind === undefined) continue;
      isRepeated ||= parts.length > 1 && !isList(kind);
      const value = kind.read(joinList(parts));
      if (value === undefined) unreadable.push(name);
      else values[name] = value;
    }
    const hasOthers = unreadable.length + ofParsing.length + further.length > 0;
    if (validate(values) && !isRepeated && !hasOthers) return values;
    const failures = validate.errors ?? [];
    const own = parameters.flatMap(({ name, kind }) => {
      const parts = texts.get(name) ?? [];
      const input = joinList(parts);
      const failed = failures.filter(({ instancePath }) => instancePath.split('/')[1] === name);
      const keywords = unreadable.includes(name) ? [''] : failed.map(({ keyword }) => keyword);
      const violated = keywords.map((keyword) => kind.ctx(keyword, input));
      const all = parts.length > 1 && !isList(kind) ? [GIVEN_TWICE] : new Set(violated);
      return Array.from(all, (ctx) => ({ loc: `query.${name}`, input, ctx }));
    });
    const errors = [...own, ...ofParsing, ...further];
    const known = errors.map(({ loc }) => loc).filter((loc) => kinds.has(loc.slice('query.'.length)));
    throw invalidQuery(errors, known);
  };
}
