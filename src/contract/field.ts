import type { Schema } from './parameter.ts';
import type { ServedForm } from './timestamp.ts';

/**
 * The vocabulary of resource declarations. A declaration yields the JSON Schema of served records, the schema of
 * imported records (`src/snapshot/builder/import/import-schema.ts`), and the stored form.
 */

export type Shape =
  | { readonly kind: 'text'; readonly nonEmpty?: true }
  | { readonly kind: 'choice'; readonly values: readonly string[] }
  /** Served in RFC 3339 with the imported offset, in UTC with `Z`, or with an offset in place of `Z`. */
  | { readonly kind: 'timestamp'; readonly form: ServedForm }
  | { readonly kind: 'timeZone' }
  | { readonly kind: 'number' }
  | { readonly kind: 'integer' }
  | { readonly kind: 'boolean' }
  | { readonly kind: 'list'; readonly items: Shape }
  | ObjectShape;

/** An object, with a name that no other object of the contract has. */
export type ObjectShape =
  | { readonly kind: 'object'; readonly name: string; readonly fields: Fields }
  /** Any JSON object, returned as imported: the specification does not list its fields. */
  | { readonly kind: 'anyObject'; readonly name: string };

export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };

export interface Field {
  readonly shape: Shape;
  readonly description: string;
  readonly example: Json;
  /** Whether the import rejects a record without a value. Other absent fields are served as `[]` or null. */
  readonly required?: boolean;
  /** The part of Foyer that computes the field; undefined for an imported one. */
  readonly derived?: 'builder' | 'response';
  /** Rules for plausible values. A value that breaks one is accepted, and reported as a warning. */
  readonly expectations?: readonly Expectation[];
}

/** Collections to whose records other records refer by id, within an organization, and the pricings of offers. */
type Referent = 'events' | 'sessions' | 'orders' | 'offers' | 'pricings';

export type Expectation =
  /** A pricing is named next to the `offerId` of its offer. */
  | { readonly kind: 'names'; readonly referent: Referent }
  /** Any value is accepted: the id of a pricing, which records name. */
  | { readonly kind: 'identifies' }
  | { readonly kind: 'currencyCode' }
  | { readonly kind: 'notNegative' }
  /** At least the value of another field of the record. */
  | { readonly kind: 'notBelow'; readonly field: string }
  /** From 0 to 1. */
  | { readonly kind: 'fraction' }
  /** With at most the decimals of the record's currency. */
  | { readonly kind: 'amount' }
  /** Not after the production of the snapshot: clients keep the latest time that they have seen. */
  | { readonly kind: 'past' }
  /** No JSON object or list as text, such as translations. */
  | { readonly kind: 'noJson' }
  /** For the text, or each one of a list: a comma separates the values of a filter. */
  | { readonly kind: 'noComma' }
  | { readonly kind: 'trimmed' }
  | { readonly kind: 'noSpace' }
  /** Within the organization. */
  | { readonly kind: 'unique' };

export type Fields = Readonly<Record<string, Field>>;

export interface Resource {
  readonly name: string;
  readonly description: string;
  readonly id: string;
  /** The fields of each value of `type`. A resource without `type` has the single variant `''`. */
  readonly variants: Readonly<Record<string, Fields>>;
}

/** Iterates over fields at any depth, with their paths such as `placedItems[].offerId`. */
export function* fieldsIn(fields: Fields, path = ''): Generator<readonly [path: string, field: Field]> {
  for (const [name, field] of Object.entries(fields)) {
    const { shape } = field;
    const [element, suffix] = shape.kind === 'list' ? [shape.items, '[].'] : [shape, '.'];
    yield [path + name, field];
    if (element.kind === 'object') yield* fieldsIn(element.fields, path + name + suffix);
  }
}

/**
 * Returns the JSON Schema of a shape.
 * @param keywordsOf returns the keywords of a value's schema besides `type` and `enum`
 */
export function shapeSchema(
  shape: Shape,
  objectSchema: (shape: ObjectShape) => Schema,
  keywordsOf: (shape: Shape) => Schema,
): Schema {
  if (shape.kind === 'list')
    return { type: 'array', items: shapeSchema(shape.items, objectSchema, keywordsOf) };
  if (shape.kind === 'object' || shape.kind === 'anyObject') return objectSchema(shape);
  if (shape.kind === 'choice') return { type: 'string', enum: shape.values };
  return { type: JSON_TYPES.find((type) => type === shape.kind) ?? 'string', ...keywordsOf(shape) };
}

/** The kinds that are types of JSON Schema. The values of others are strings there. */
const JSON_TYPES = ['number', 'integer', 'boolean'];

type Declaration<Example extends Json> = (description: string, example: Example) => Field;

function declaring(shape: Shape): Declaration<Json> {
  return (description, example) => ({ shape, description, example });
}

export const text: Declaration<string> = declaring({ kind: 'text' });
export const timestamp: Declaration<string> = declaring({ kind: 'timestamp', form: 'any' });
/** Declares a timestamp that is served in UTC, regardless of its imported offset. */
export const utcTimestamp: Declaration<string> = declaring({ kind: 'timestamp', form: 'utc' });
/** Declares a timestamp that is served with an offset, in place of an imported `Z` as well. */
export const offsetTimestamp: Declaration<string> = declaring({ kind: 'timestamp', form: 'offset' });
export const timeZone: Declaration<string> = declaring({ kind: 'timeZone' });
export const number: Declaration<number> = declaring({ kind: 'number' });
export const integer: Declaration<number> = declaring({ kind: 'integer' });
export const boolean: Declaration<boolean> = declaring({ kind: 'boolean' });
export const texts: Declaration<readonly string[]> = declaring({ kind: 'list', items: { kind: 'text' } });

/** Declares an amount that is charged, granted or refunded. VAT is a computed share, which may have more decimals. */
export const amount: Declaration<number> = (...of) => expecting({ kind: 'amount' }, number(...of));
export const price: Declaration<number> = (...of) => expecting({ kind: 'notNegative' }, amount(...of));
export const quantity: Declaration<number> = (...of) => expecting({ kind: 'notNegative' }, integer(...of));
/** Declares the name of something, in one language. */
export const title: Declaration<string> = (...of) => expecting({ kind: 'noJson' }, text(...of));
export const past = (accepted: Field): Field => expecting({ kind: 'past' }, accepted);

export function required(optional: Field): Field {
  return { ...optional, required: true };
}

export function nullable(optional: Field): Field {
  return { ...optional, required: false };
}

/** Declares that no field is null at any depth, except those that are declared as nullable. */
export function neverNull(fields: Fields): Fields {
  return Object.fromEntries(
    Object.entries(fields).map(([name, { shape, required = shape.kind !== 'list', ...field }]) => [
      name,
      { ...field, shape: neverNullIn(shape), required },
    ]),
  );
}

function neverNullIn(shape: Shape): Shape {
  if (shape.kind === 'list') return { ...shape, items: neverNullIn(shape.items) };
  return shape.kind === 'object' ? { ...shape, fields: neverNull(shape.fields) } : shape;
}

export function derived(by: 'builder' | 'response', imported: Field): Field {
  return { ...imported, derived: by };
}

export function expecting(expectation: Expectation, accepted: Field): Field {
  return { ...accepted, expectations: [...(accepted.expectations ?? []), expectation] };
}

/** Declares a text of which a filter takes a list. */
export function listed(accepted: Field): Field {
  return expecting({ kind: 'trimmed' }, expecting({ kind: 'noComma' }, accepted));
}

/** Declares that the values of a field should be ids of records of the same organization. */
export function naming(referent: Referent, accepted: Field): Field {
  return expecting({ kind: 'names', referent }, accepted);
}

/** Declares an identifier: required, and not empty because a path cannot name an empty one. */
export function id(description: string, example: string): Field {
  return required({ shape: { kind: 'text', nonEmpty: true }, description, example });
}

export function choice(values: readonly string[], description: string, example = values[0]): Field {
  return required({ shape: { kind: 'choice', values }, description, example });
}

export function object(name: string, description: string, fields: Fields): Field {
  return { shape: { kind: 'object', name, fields }, description, example: exampleOf(fields) };
}

export function anyObject(name: string, description: string, example: Json): Field {
  return { shape: { kind: 'anyObject', name }, description, example };
}

export function objects(name: string, description: string, fields: Fields): Field {
  const { shape, example } = object(name, description, fields);
  return { shape: { kind: 'list', items: shape }, description, example: [example] };
}

export function exampleOf(fields: Fields): Record<string, Json> {
  return Object.fromEntries(Object.entries(fields).map(([name, { example }]) => [name, example]));
}
