import { parseTimestamp } from './timestamp.ts';

/**
 * The kinds of query parameter. A parameter reaches us as text and is checked as text: against the rules of
 * its kind, each a test with the words that tell a caller what would be right (`ctx` of a violation).
 */

export const DEFAULT_PER_PAGE = 25;
export const MAX_PER_PAGE = 100;
export const MAX_LIST_VALUES = 10;

export interface TextRule {
  /** Name of the rule: ajv knows it as a format. */
  readonly name: string;
  readonly accepts: (text: string) => boolean;
  /** What was violated, for `ctx`. */
  readonly ctx: (text: string) => string;
}

/** JSON Schema, as the documentation shows it. */
export type Schema = Readonly<Record<string, unknown>>;

export interface ParameterKind {
  readonly rules: readonly TextRule[];
  /** The values as a reader of the documentation thinks of them. */
  readonly schema: Schema;
  /** The form in which a value is compared, where it is not the value itself. */
  readonly normalize?: (text: string) => string;
}

/** `parseTimestamp` as a documented pattern. JSON Schema's `date-time` will not do: it demands seconds. */
export const TIMESTAMP_PATTERN =
  '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d(:\\d\\d(\\.\\d+)?)?(Z|[+-]\\d\\d:\\d\\d)$';

const PLUS_HINT = '; a + in a query string must be written as %2B';
const hintIfBlank = (text: string) => (text.includes(' ') ? PLUS_HINT : '');
const rule = (name: string, accepts: (text: string) => boolean, ctx: string): TextRule => ({
  name,
  accepts,
  ctx: () => ctx,
});
const isPositive = (text: string) => /^0*[1-9][0-9]*$/.test(text);

export const PAGE: ParameterKind = {
  rules: [rule('page', isPositive, 'must be an integer of 1 or more, in digits only')],
  schema: { type: 'integer', minimum: 1, default: 1 },
};

export const PER_PAGE: ParameterKind = {
  rules: [
    rule(
      'perPage',
      (text) => isPositive(text) && Number(text) <= MAX_PER_PAGE,
      `must be an integer from 1 to ${MAX_PER_PAGE}, in digits only`,
    ),
  ],
  schema: { type: 'integer', minimum: 1, maximum: MAX_PER_PAGE, default: DEFAULT_PER_PAGE },
};

const PIN_PATTERN = '^[A-Za-z0-9_-]{43}$';
const PIN_FORM = new RegExp(PIN_PATTERN);

/** A SHA-256 in base64url: the digest of an organization's content. */
export const PIN: ParameterKind = {
  rules: [rule('pin', (text) => PIN_FORM.test(text), 'must be as a nextPage link has it, or be left out')],
  schema: { type: 'string', pattern: PIN_PATTERN },
};

export const INSTANT: ParameterKind = {
  rules: [
    {
      name: 'instant',
      accepts: (text) => parseTimestamp(text) !== undefined,
      ctx: (text) =>
        'must be an ISO 8601 date and time with Z or an offset, such as 2026-01-31T20:00:00%2B01:00' +
        hintIfBlank(text),
    },
  ],
  schema: { type: 'string', pattern: TIMESTAMP_PATTERN },
};

export const splitList = (text: string): string[] => text.split(',');

/** Tags are compared in this form: NFC, white space trimmed and collapsed, lower case of no locale, accents kept. */
export function normalizeTag(tag: string): string {
  return tag.normalize('NFC').trim().replace(/\s+/g, ' ').toLowerCase().normalize('NFC');
}

/** E-mail addresses are compared in lower case, and otherwise as they are. */
export function normalizeEmail(email: string): string {
  return email.toLowerCase();
}

const atMostTenValues = rule(
  'atMostTenValues',
  (text) => splitList(text).length <= MAX_LIST_VALUES,
  `must hold at most ${MAX_LIST_VALUES} comma-separated values`,
);

const listSchema: Schema = {
  type: 'array',
  minItems: 1,
  maxItems: MAX_LIST_VALUES,
  items: { type: 'string', minLength: 1 },
};

export const ID_LIST: ParameterKind = {
  rules: [
    rule(
      'noEmptyValue',
      (text) => splitList(text).every((value) => value !== ''),
      'must not hold an empty value: no empty string, no stray comma',
    ),
    atMostTenValues,
  ],
  schema: listSchema,
};

export const TAG_LIST: ParameterKind = {
  rules: [
    rule(
      'noEmptyTag',
      (text) => splitList(text).every((tag) => normalizeTag(tag) !== ''),
      'must not hold an empty tag: no empty string, no stray comma, no blanks alone',
    ),
    atMostTenValues,
  ],
  schema: listSchema,
  normalize: normalizeTag,
};

export const EMAIL: ParameterKind = {
  rules: [
    {
      name: 'address',
      accepts: (text) => text !== '' && !/\s/.test(text),
      ctx: (text) => 'must be an e-mail address, not empty and without blanks' + hintIfBlank(text),
    },
  ],
  schema: { type: 'string', minLength: 1 },
  normalize: normalizeEmail,
};

export const ONE_ID: ParameterKind = {
  rules: [rule('oneId', (text) => text !== '', 'must be an identifier, not empty')],
  schema: { type: 'string', minLength: 1 },
};

export const BOOLEAN: ParameterKind = {
  rules: [rule('boolean', (text) => text === 'true' || text === 'false', 'must be true or false')],
  schema: { type: 'boolean' },
};

export function oneOf(values: readonly string[]): ParameterKind {
  return {
    rules: [
      rule(`oneOf:${values.join()}`, (text) => values.includes(text), `must be one of ${values.join(', ')}`),
    ],
    schema: { type: 'string', enum: values },
  };
}
