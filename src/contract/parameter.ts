import { type Instant, isCalendarDate, parseTimestamp } from './timestamp.ts';

/**
 * The kinds of query parameters. A kind converts the text of a parameter to a value, which the schema in the OpenAPI
 * document then validates. These schemas have no `pattern`, of which importers of the document make random values. For the
 * same importers, an empty default counts as absent.
 */

export const DEFAULT_PER_PAGE = 25;
export const MAX_PER_PAGE = 100;
export const MAX_LIST_VALUES = 10;

/** JSON Schema (2020-12). */
export type Schema = Readonly<Record<string, unknown>>;

/** The value of a parameter, of its schema's type. A timestamp becomes its instant. */
export type ParameterValue = number | string | boolean | Instant | readonly string[];

export interface ParameterKind {
  readonly schema: Schema;
  /**
   * Converts text to the schema's type. Text of another form is returned unchanged, and violates the schema. Returns
   * undefined for a violation that the schema does not express.
   */
  readonly read: (text: string) => ParameterValue | undefined;
  /** Returns the `ctx` of a violation, by the violated keyword of the schema; empty without one. */
  readonly ctx: (keyword: string, text: string) => string;
}

const PLUS_HINT = '; encode + as %2B in a query string';

const LIST_SEPARATOR = ',';

/** Returns whether a kind is a list. A list may be given several times, as one list in parts. */
export const isList = ({ schema }: ParameterKind): boolean => schema['type'] === 'array';

export const splitList = (text: string): string[] => text.split(LIST_SEPARATOR, MAX_LIST_VALUES + 1);

/** Joins the parts of a list. No element contains the separator, so the parts have the elements of the whole. */
export const joinList = (parts: readonly string[]): string => parts.join(LIST_SEPARATOR);

/**
 * Returns the form in which tags are compared. It is NFC, trimmed, with collapsed white space, and folded: the
 * locale-independent lower case of its upper case, so that `ß` is `ss`. The upper case is that of the lower case, for `ẞ`.
 * Without the Stream-Safe Text Process (UAX #15), the time of NFC grows with the square of the number of marks.
 */
export function normalizeTag(tag: string): string {
  const safe = tag.replace(/\p{M}{30}(?=\p{M})/gu, '$&\u034f');
  const folded = safe.normalize('NFC').trim().replace(/\s+/g, ' ').toLowerCase().toUpperCase().toLowerCase();
  return folded.normalize('NFC');
}

export function normalizeEmail(email: string): string {
  return email.toLowerCase();
}

function textKind(schema: Schema, ctx: ParameterKind['ctx']): ParameterKind {
  return { schema: { type: 'string', ...schema }, read: (text) => text, ctx };
}

function integerKind(schema: Schema, range: string): ParameterKind {
  return {
    schema: { type: 'integer', minimum: 1, ...schema },
    read: (text) => (/^[0-9]+$/.test(text) ? Math.min(Number(text), Number.MAX_SAFE_INTEGER) : text),
    ctx: () => `must be an integer ${range}, written in digits only`,
  };
}

function listKind(elements: Schema, ctx: ParameterKind['ctx']): ParameterKind {
  const items = { type: 'string', ...elements };
  return { schema: { type: 'array', minItems: 1, maxItems: MAX_LIST_VALUES, items }, read: splitList, ctx };
}

export const PAGE = integerKind({ default: 1 }, 'of at least 1');

export const PER_PAGE = integerKind(
  { maximum: MAX_PER_PAGE, default: DEFAULT_PER_PAGE },
  `from 1 to ${MAX_PER_PAGE}`,
);

/** The content digest of a list, SHA-256 in base64url. */
export const CONTENT_DIGEST: ParameterKind = {
  schema: { type: 'string', default: '' },
  read: (text) => (/^[A-Za-z0-9_-]{43}$/.test(text) ? text : undefined),
  ctx: () => 'must be the value of a nextPage link, or be omitted',
};

/** The keyword tells the explorer that the value is a timestamp. */
export const INSTANT: ParameterKind = {
  schema: { type: 'string', 'x-timestamp': true },
  read: parseTimestamp,
  ctx: (_keyword, text) =>
    'must be an ISO 8601 date and time with Z or an offset, such as 2026-01-31T20:00:00%2B01:00' +
    mistakesIn(text).join(''),
};

/** Returns hints at the likely mistakes of a text that is no timestamp. */
function mistakesIn(text: string): string[] {
  const joined = text.replace(/^([0-9]{4}-?[0-9]{2}-?[0-9]{2}) (?=[0-9])/, '$1T');
  const [, year, month, day] = /^([0-9]{4})-?(0[1-9]|1[0-2])-?([0-9]{2})/.exec(text) ?? [];
  const days = [31, 30, 29, 28].find((last) => isCalendarDate(`${year}-${month}-${last}`)) ?? Infinity;
  return [
    ...(/%[0-9a-f]{2}/i.test(text) ? ['; it is percent-encoded twice'] : []),
    ...(joined === text ? [] : ['; write T between date and time, not a space']),
    ...(/ [0-9]{2}(:?[0-9]{2})?$/.test(joined) ? [PLUS_HINT] : []),
    ...(parseTimestamp(`${joined}Z`) === undefined ? [] : ['; the offset is missing']),
    ...(Number(day) > days ? [`; ${year}-${month} has ${days} days`] : []),
  ];
}

/** Returns the `ctx` of a list, which states that commas separate values. */
const listCtx =
  (empty: string): ParameterKind['ctx'] =>
  (keyword) =>
    keyword === 'maxItems'
      ? `must contain at most ${MAX_LIST_VALUES} comma-separated values, in all parameters of this name together`
      : `must contain comma-separated values, none of them ${empty} (check for an extra comma)`;

export const ID_LIST = listKind({ minLength: 1 }, listCtx('empty'));

export const TAG_LIST: ParameterKind = {
  ...listKind({ minLength: 1 }, listCtx('empty or white space only')),
  read: (text) => splitList(text).map(normalizeTag),
};

export const EMAIL: ParameterKind = {
  schema: { type: 'string', minLength: 1 },
  read: (text) => (/\s/.test(text) ? undefined : normalizeEmail(text)),
  ctx: (_keyword, text) =>
    `must be a non-empty e-mail address without white space${text.includes(' ') ? PLUS_HINT : ''}`,
};

export const ONE_ID = textKind({ minLength: 1 }, () => 'must be a non-empty identifier');

export const BOOLEAN: ParameterKind = {
  schema: { type: 'boolean', enum: [true, false] },
  read: (text) => (text === 'true' || text === 'false' ? text === 'true' : text),
  ctx: () => 'must be true or false',
};

export function oneOf(values: readonly string[]): ParameterKind {
  return textKind({ enum: values }, () => `must be one of ${values.join(', ')}`);
}

export function enumList(values: readonly string[]): ParameterKind {
  return listKind(
    { enum: values },
    () => `must contain comma-separated values, each one of ${values.join(', ')}`,
  );
}

/** A token that the service has made. */
export const TOKEN = textKind(
  { default: '' },
  () => 'must be `next` of an earlier response, unchanged; omit it to begin with a reset',
);
