import type { Instant } from './timestamp.ts';

/**
 * The kinds of query parameter. A parameter arrives as text. Its kind reads the text as a value, and the value is validated by the schema
 * that the documentation publishes.
 */

export const DEFAULT_PER_PAGE = 25;
export const MAX_PER_PAGE = 100;
export const MAX_LIST_VALUES = 10;

/** JSON Schema (2020-12). */
export type Schema = Readonly<Record<string, unknown>>;

/** The value of a parameter: of the type that its schema says; a valid timestamp is its instant. */
export type ParameterValue = number | string | boolean | Instant | readonly string[];

export interface ParameterKind {
  /** Schema of the value. */
  readonly schema: Schema;
  /** Reads a text as a value of the schema's type. Text of another form stays as it is, and violates the schema. */
  readonly read: (text: string) => ParameterValue;
  /** Tells which constraint a text violates, by the keyword of the schema, and what would be right. */
  readonly ctx: (keyword: string, text: string) => string;
}

/**
 * The schema keyword of timestamps: the date, the time and the offset exist, which a pattern cannot say. Its implementation is
 * `parseTimestamp`.
 */
export const EXISTING_KEYWORD = 'x-existing';

const DATE = '\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])';
const TIME = '([01]\\d|2[0-3]):[0-5]\\d(:[0-5]\\d(\\.\\d+)?)?';
const OFFSET = '[+-]([01]\\d|2[0-3]):[0-5]\\d';

/** The grammar of timestamps. `date-time` of JSON Schema will not do: it demands seconds. */
export const TIMESTAMP_PATTERN = `^${DATE}T${TIME}(Z|${OFFSET})$`;
/** The same in UTC. */
export const UTC_TIMESTAMP_PATTERN = `^${DATE}T${TIME}Z$`;

const PLUS_HINT = '; a + in a query string must be written as %2B';
const hintAtBlank = (text: string) => (text.includes(' ') ? PLUS_HINT : '');

const asItIs = (text: string): string => text;

/** Reads digits as an integer; beyond the largest safe integer they are cut to it. */
function readInteger(text: string): number | string {
  return /^[0-9]+$/.test(text) ? Math.min(Number(text), Number.MAX_SAFE_INTEGER) : text;
}

export const splitList = (text: string): string[] => text.split(',');

/** Tags are compared in this form: NFC, white space trimmed and collapsed, lower case of no locale, accents kept. */
export function normalizeTag(tag: string): string {
  return tag.normalize('NFC').trim().replace(/\s+/g, ' ').toLowerCase().normalize('NFC');
}

/** E-mail addresses are compared in lower case, and otherwise as they are. */
export function normalizeEmail(email: string): string {
  return email.toLowerCase();
}

export const PAGE: ParameterKind = {
  schema: { type: 'integer', minimum: 1, default: 1 },
  read: readInteger,
  ctx: () => 'must be an integer of 1 or more, in digits only',
};

export const PER_PAGE: ParameterKind = {
  schema: { type: 'integer', minimum: 1, maximum: MAX_PER_PAGE, default: DEFAULT_PER_PAGE },
  read: readInteger,
  ctx: () => `must be an integer from 1 to ${MAX_PER_PAGE}, in digits only`,
};

/** A SHA-256 in base64url: the digest of an organization's content. */
export const CONTENT_DIGEST: ParameterKind = {
  schema: { type: 'string', pattern: '^[A-Za-z0-9_-]{43}$' },
  read: asItIs,
  ctx: () => 'must be as a nextPage link has it, or be left out',
};

export const INSTANT: ParameterKind = {
  schema: {
    type: 'string',
    description: 'A day that the month does not have is refused.',
    pattern: TIMESTAMP_PATTERN,
    [EXISTING_KEYWORD]: true,
  },
  read: asItIs,
  ctx: (_keyword, text) =>
    'must be an ISO 8601 date and time with Z or an offset, such as 2026-01-31T20:00:00%2B01:00' +
    hintAtBlank(text),
};

const listSchema: Schema = {
  type: 'array',
  minItems: 1,
  maxItems: MAX_LIST_VALUES,
  items: { type: 'string', minLength: 1 },
};
const TOO_MANY = `must hold at most ${MAX_LIST_VALUES} comma-separated values`;

export const ID_LIST: ParameterKind = {
  schema: listSchema,
  read: splitList,
  ctx: (keyword) =>
    keyword === 'maxItems' ? TOO_MANY : 'must not hold an empty value: no empty string, no stray comma',
};

export const TAG_LIST: ParameterKind = {
  schema: listSchema,
  read: (text) => splitList(text).map(normalizeTag),
  ctx: (keyword) =>
    keyword === 'maxItems'
      ? TOO_MANY
      : 'must not hold an empty tag: no empty string, no stray comma, no blanks alone',
};

export const EMAIL: ParameterKind = {
  schema: { type: 'string', pattern: '^\\S+$' },
  read: normalizeEmail,
  ctx: (_keyword, text) => 'must be an e-mail address, not empty and without blanks' + hintAtBlank(text),
};

export const ONE_ID: ParameterKind = {
  schema: { type: 'string', minLength: 1 },
  read: asItIs,
  ctx: () => 'must be an identifier, not empty',
};

export const BOOLEAN: ParameterKind = {
  schema: { type: 'boolean' },
  read: (text) => (text === 'true' || text === 'false' ? text === 'true' : text),
  ctx: () => 'must be true or false',
};

export function oneOf(values: readonly string[]): ParameterKind {
  return {
    schema: { type: 'string', enum: values },
    read: asItIs,
    ctx: () => `must be one of ${values.join(', ')}`,
  };
}
