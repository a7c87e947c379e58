import {
  type Expectation,
  type Field,
  type Fields,
  type Json,
  type Referent,
  REFERENTS,
} from '../../contract/field.ts';
import { type JsonObject, objectIn, objectsIn, textIn, textsIn } from '../format/json-values.ts';
import type { CollectionLayout } from '../format/layout.ts';
import { addHash } from './hash-set.ts';

/** A rule for a field of a collection. Ids to which records refer have a rule as well: the review collects them. */
export interface Check {
  /** Path of the field, such as `placedItems[].offerId`. */
  readonly field: string;
  readonly rule: Expectation | { readonly kind: 'id'; readonly referent: Referent };
}

/**
 * The findings of records, five numbers each:
 *
 *     check          position in `checks`
 *     organization   position in the order of the ids
 *     record         position of the record: its line or row
 *     high, low      hash of the text, if the rule depends on other records; else 0: the value breaks the rule
 */
export type Findings = number[];
export const FINDING_LENGTH = 5;

/** Called with the position of a check and a value that it concerns. */
type Visit = (check: number, value: Json) => void;
/** @param offerId of the innermost object that has one */
type Walk = (value: Json | undefined, visit: Visit, offerId: Json) => void;

/** Finds the values of a collection's records for which the contract declares a rule. */
export class RecordReview {
  readonly layout: CollectionLayout;
  readonly checks: Check[] = [];
  readonly #variants: ReadonlyMap<string, Walk | undefined>;

  constructor(layout: CollectionLayout) {
    this.layout = layout;
    this.#variants = new Map(
      Object.entries(layout.resource.variants).map(([type, fields]) => [type, this.#walkObject(fields, '')]),
    );
  }

  /** Calls `visit` for each present value of a record that a check concerns. */
  visit(record: JsonObject, visit: Visit): void {
    const walk = this.#variants.get('') ?? this.#variants.get(textIn(record['type']));
    walk?.(record, visit, null);
  }

  /** Appends the findings of a record. */
  addFindings(organization: number, position: number, record: JsonObject, findings: Findings): void {
    this.visit(record, (check, value) => {
      this.find(check, organization, position, value, findings);
    });
  }

  /** Appends the finding of a value, if there is one. */
  find(check: number, organization: number, position: number, value: Json, findings: Findings): void {
    const { rule } = this.checks[check];
    if (dependsOnOthers(rule)) {
      findings.push(check, organization, position);
      addHash(findings, typeof value === 'string' ? value : JSON.stringify(value), organization);
    } else if (isBroken(rule, value)) findings.push(check, organization, position, 0, 0);
  }

  #walkObject(fields: Fields, path: string): Walk | undefined {
    const walks = Object.entries(fields).flatMap(([name, field]): [string, Walk][] => {
      const walk = this.#walkField(field, path + name);
      return walk === undefined ? [] : [[name, walk]];
    });
    if (walks.length === 0) return undefined;
    return (value, visit, outerOffer) => {
      const object = objectIn(value);
      if (object === undefined) return;
      const offerId = object['offerId'] ?? outerOffer;
      for (const [name, walk] of walks) walk(object[name], visit, offerId);
    };
  }

  #walkField({ shape, expectation }: Field, path: string): Walk | undefined {
    const { name, resource } = this.layout;
    const identified = path === resource.id ? name : path === 'pricing[].pricingId' ? 'pricings' : undefined;
    const referent = REFERENTS.find((one) => one === identified);
    const rule = referent ? { kind: 'id' as const, referent } : expectation;
    if (rule !== undefined) {
      const check = this.#checkOf(path, rule);
      const isPricing = 'referent' in rule && rule.referent === 'pricings';
      return (value, visit, offerId) => {
        if (value === undefined || value === null) return;
        if (shape.kind === 'list') for (const text of textsIn(value)) visit(check, text);
        else visit(check, isPricing ? [offerId, value] : value);
      };
    }
    if (shape.kind === 'object') return this.#walkObject(shape.fields, `${path}.`);
    if (shape.kind !== 'list' || shape.items.kind !== 'object') return undefined;
    const walk = this.#walkObject(shape.items.fields, `${path}[].`);
    return (
      walk &&
      ((value, visit, offerId) => {
        for (const item of objectsIn(value)) walk(item, visit, offerId);
      })
    );
  }

  /** Returns the position of a check. Variants share the checks of a field. */
  #checkOf(field: string, rule: Check['rule']): number {
    const known = this.checks.findIndex((check) => check.field === field);
    return known < 0 ? this.checks.push({ field, rule }) - 1 : known;
  }
}

type RuleOf<Kind> = Extract<Check['rule'], { readonly kind: Kind }>;

function dependsOnOthers(rule: Check['rule']): rule is RuleOf<'id' | 'names' | 'unique'> {
  return rule.kind === 'id' || rule.kind === 'names' || rule.kind === 'unique';
}

/** Returns whether a value breaks a rule that does not depend on other records. */
function isBroken({ kind }: RuleOf<'currencyCode' | 'notNegative' | 'noComma'>, value: Json): boolean {
  if (kind === 'noComma') return typeof value === 'string' && value.includes(',');
  if (kind === 'notNegative') return typeof value === 'number' && value < 0;
  return typeof value !== 'string' || !isCurrencyCode(value);
}

/** The names of present and former currencies. The list of `Intl.supportedValuesOf` lacks former ones. */
const currencyNames = new Intl.DisplayNames('en', { type: 'currency', fallback: 'none' });
const knownCodes = new Map<string, boolean>();

function isCurrencyCode(code: string): boolean {
  let known = knownCodes.get(code);
  if (known === undefined) {
    known = /^[A-Z]{3}$/.test(code) && currencyNames.of(code) !== undefined;
    knownCodes.set(code, known);
  }
  return known;
}
