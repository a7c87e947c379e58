import type { CollectionName } from '../../../contract/operations.ts';
import { type Expectation, fieldsIn } from '../../../contract/field.ts';
import { type JsonObject, textIn } from '../../format/json-values.ts';
import { COLLECTIONS } from '../../format/layout.ts';
import { MAX_AHEAD_MS } from '../../format/succession.ts';

/** The rules of the contract for plausible values, and the warnings about records that break them. */

/** Records or lines that are valid but look wrong for the same reason. */
export interface Warning {
  /** Collection, or import file. */
  readonly source: string;
  /** Field and problem: `orderId names no order`. */
  readonly problem: string;
  /** Number of records or lines. A record counts once for each distinct value that looks wrong. */
  readonly count: number;
  readonly first: string;
}

/** Formats a warning, such as `tickets: orderId names no order: 120 records, first: tkt_5 ("ord_9") of north`. */
export function describeWarning({ source, problem, count, first }: Warning): string {
  return `${source}: ${problem}: ${count} ${count === 1 ? 'record' : 'records'}, first: ${first}`;
}

export interface Rule {
  readonly collection: CollectionName;
  /** Path of the field, such as `placedItems[].offerId`. */
  readonly field: string;
  readonly expected: Expectation;
}

/** All rules. A rule has the same number in all threads. */
export const RULES: readonly Rule[] = COLLECTIONS.flatMap(({ name: collection, resource }) => {
  const fields = new Map(Object.values(resource.variants).flatMap((variant) => [...fieldsIn(variant)]));
  return [...fields].flatMap(([field, { expectations = [] }]) =>
    expectations.map((expected) => ({ collection, field, expected })),
  );
});

export type RulesByPath = ReadonlyMap<string, readonly number[]>;

/** Returns the numbers of the rules of a collection, by field path without brackets. */
export function rulesOf(collection: CollectionName): RulesByPath {
  const numbers = RULES.keys().filter((number) => RULES[number].collection === collection);
  return Map.groupBy(numbers, (number) => RULES[number].field.replaceAll('[]', ''));
}

/** What no text of a field has, by rule. */
const UNEXPECTED: Partial<Record<Expectation['kind'], RegExp>> = {
  noComma: /,/,
  trimmed: /^\s|\s$/,
  noSpace: /\s/,
  noJson: /^(?:\{\s*(?:".*)?\}|\[\s*(?:["{].*)?\])$/s,
};

/** Returns whether a value breaks a rule, or may break one about ids. QR codes are compared by their column. */
export function isSuspect(
  { expected }: Rule,
  value: string | number,
  record: JsonObject,
  producedAt: number,
): boolean {
  const { kind } = expected;
  if (typeof value === 'number') {
    if (kind === 'amount') return hasMoreDecimals(value, textIn(record['currency']));
    if (kind === 'fraction') return value < 0 || value > 1;
    const least = kind === 'notBelow' ? record[expected.field] : 0;
    return typeof least === 'number' && value < least;
  }
  if (kind === 'names' || kind === 'identifies') return true;
  if (kind === 'past') return Date.parse(value) > producedAt + MAX_AHEAD_MS;
  return kind === 'currencyCode' ? !isCurrencyCode(value) : UNEXPECTED[kind]?.test(value) === true;
}

/** Returns whether the check of a rule needs no other records. */
export function isOfOneRecord({ expected: { kind } }: Rule): boolean {
  return kind !== 'names' && kind !== 'identifies' && kind !== 'unique';
}

/** Returns whether the values of a rule are ids of pricings, which are unique within an offer. */
export function isOfPricing({ expected }: Rule): boolean {
  return expected.kind === 'identifies' || (expected.kind === 'names' && expected.referent === 'pricings');
}

/** The names of present and former currencies. The list of `Intl.supportedValuesOf` lacks former ones. */
const currencyNames = new Intl.DisplayNames('en', { type: 'currency', fallback: 'none' });
const isCurrencyCode = remembered((code) => /^[A-Z]{3}$/.test(code) && currencyNames.of(code) !== undefined);

/** Currencies that ISO 4217 does not divide by 100. Intl has the customary decimals, such as none for HUF. */
const UNDIVIDED = /^(?:BIF|CLP|DJF|GNF|ISK|JPY|KMF|KRW|PYG|RWF|UGX|VND|VUV|XAF|XOF|XPF)$/;
const IN_THOUSANDTHS = /^(?:BHD|IQD|JOD|KWD|LYD|OMR|TND)$/;

function hasMoreDecimals(amount: number, currency: string): boolean {
  if (Number.isInteger(amount) || UNDIVIDED.test(currency)) return !Number.isInteger(amount);
  const units = IN_THOUSANDTHS.test(currency) ? 1000 : 100;
  return Math.round(amount * units) / units !== amount;
}

/** Returns a check that remembers its results: those of `Intl` take up to 70 µs, and their values are few. */
export function remembered(check: (text: string) => boolean): (text: string) => boolean {
  const known = new Map<string, boolean>();
  return (text) => {
    const result = known.get(text) ?? check(text);
    known.set(text, result);
    return result;
  };
}

const PROBLEMS = {
  currencyCode: 'is no currency code of ISO 4217',
  notNegative: 'is negative',
  fraction: 'is no fraction from 0 to 1',
  amount: 'has more decimals than the currency',
  past: 'is after the production of the snapshot',
  noJson: 'is JSON as text',
  noComma: 'has a comma, so that no filter finds it',
  trimmed: 'has white space around it, without which no filter finds it',
  noSpace: 'has white space, so that no filter finds it',
  unique: 'is that of an earlier record',
  identifies: '',
};

/** Returns the rest of a sentence that begins with the field. */
export function ruleProblem({ expected }: Rule): string {
  if (expected.kind === 'notBelow') return `is below ${expected.field}`;
  if (expected.kind !== 'names') return PROBLEMS[expected.kind];
  return `names no ${expected.referent === 'pricings' ? 'pricing of the offer' : expected.referent.slice(0, -1)}`;
}
