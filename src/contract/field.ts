import type { Schema } from './parameter.ts';

/**
 * The vocabulary of resource declarations. A declaration yields the JSON Schema of served records, the schema of
 * imported records (`src/snapshot/builder/import/import-schema.ts`), and the stored form.
 */

export type Shape =
  | { readonly kind: 'text'; readonly nonEmpty?: true }
  | { readonly kind: 'choice'; readonly values: readonly string[] }
  /** Served as imported, in UTC with `Z`, or with an offset in place of `Z`. */
  | { readonly kind: 'timestamp'; readonly form: 'imported' | 'utc' | 'offset' }
  | { readonly kind: 'timeZone' }
  | { readonly kind: 'number' }
  | { readonly kind: 'integer' }
  | { readonly kind: 'boolean' }
  | { readonly kind: 'list'; readonly items: Shape }
  | { readonly kind: 'object'; readonly fields: Fields }
  /** Any JSON object, returned as imported: the specification does not list its fields. */
  | { readonly kind: 'anyObject' };

export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };

export interface Field {
  readonly shape: Shape;
  readonly description: string;
  readonly example: Json;
  /** Whether the import rejects a record without a value. Other absent fields are served as `[]` or null. */
  readonly required?: boolean;
  /** The part of Foyer that computes the field; undefined for an imported one. */
  readonly derived?: 'builder' | 'response';
  /** A rule for plausible values. A value that breaks it is accepted, and reported as a warning. */
  readonly expectation?: Expectation;
}

/** Collections to whose records other records refer by id, within an organization, and the pricings of offers. */
export type Referent = 'events' | 'sessions' | 'orders' | 'offers' | 'pricings';

/** A rule for the plausible values of a field. */
export type Expectation =
  /** A pricing is named beside the `offerId` of its offer. */
  | { readonly kind: 'names'; readonly referent: Referent }
  | { readonly kind: 'currencyCode' }
  | { readonly kind: 'notNegative' }
  /** For each text of a list. */
  | { readonly kind: 'noComma' }
  /** Within the organization. */
  | { readonly kind: 'unique' };

export type Fields = Readonly<Record<string, Field>>;

export interface Resource {
  readonly name: string;
  readonly description: string;
  /** The field that identifies a record within its organization and collection. */
  readonly id: string;
  /** The fields of each value of `type`. A resource without `type` has the single variant `''`. */
  readonly variants: Readonly<Record<string, Fields>>;
}

/** Iterates over fields at any depth, with their paths such as `placedItems[].offerId`. */
export function* fieldsIn(fields: Fields, path = ''): Generator<readonly [path: string, field: Field]> {
  for (const [name, field] of Object.entries(fields)) {
    const isList = field.shape.kind === 'list';
    const element = field.shape.kind === 'list' ? field.shape.items : field.shape;
    yield [path + name, field];
    if (element.kind === 'object') yield* fieldsIn(element.fields, `${path}${name}${isList ? '[]' : ''}.`);
  }
}

/**
 * Returns the JSON Schema of a shape.
 * @param keywordsOf returns the keywords of a value's schema beside `type` and `enum`
 */
export function shapeSchema(
  shape: Shape,
  objectSchema: (fields: Fields) => Schema,
  keywordsOf: (shape: Shape) => Schema,
): Schema {
  if (shape.kind === 'list')
    return { type: 'array', items: shapeSchema(shape.items, objectSchema, keywordsOf) };
  if (shape.kind === 'object') return objectSchema(shape.fields);
  if (shape.kind === 'choice') return { type: 'string', enum: shape.values };
  return { type: JSON_TYPES[shape.kind] ?? 'string', ...keywordsOf(shape) };
}

/** JSON types of the shapes that are not texts. */
const JSON_TYPES: Partial<Record<Shape['kind'], string>> = {
  number: 'number',
  integer: 'integer',
  boolean: 'boolean',
  anyObject: 'object',
};

function field(shape: Shape, description: string, example: Json): Field {
  return { shape, description, example };
}

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

/** Declares a rule for the plausible values of a field. */
export function expecting(expectation: Expectation, accepted: Field): Field {
  return { ...accepted, expectation };
}

/** Declares that the values of a field should be ids of records of the same organization. */
export function naming(referent: Referent, accepted: Field): Field {
  return expecting({ kind: 'names', referent }, accepted);
}

/** Declares an identifier: required, and not empty because a path cannot name an empty one. */
export function id(description: string, example: string): Field {
  return required(field({ kind: 'text', nonEmpty: true }, description, example));
}

export function text(description: string, example: string): Field {
  return field({ kind: 'text' }, description, example);
}

export function choice(values: readonly string[], description: string, example = values[0]): Field {
  return required(field({ kind: 'choice', values }, description, example));
}

export function timestamp(description: string, example: string): Field {
  return field({ kind: 'timestamp', form: 'imported' }, description, example);
}

/** Declares a timestamp that is served in UTC, regardless of its imported offset. */
export function utcTimestamp(description: string, example: string): Field {
  return field({ kind: 'timestamp', form: 'utc' }, description, example);
}

/** Declares a timestamp that is served with an offset, in place of an imported `Z` as well. */
export function offsetTimestamp(description: string, example: string): Field {
  return field({ kind: 'timestamp', form: 'offset' }, description, example);
}

export function timeZone(description: string, example: string): Field {
  return field({ kind: 'timeZone' }, description, example);
}

export function number(description: string, example: number): Field {
  return field({ kind: 'number' }, description, example);
}

/** Declares a price, which should not be negative. */
export function price(description: string, example: number): Field {
  return expecting({ kind: 'notNegative' }, number(description, example));
}

export function integer(description: string, example: number): Field {
  return field({ kind: 'integer' }, description, example);
}

export function boolean(description: string, example: boolean): Field {
  return field({ kind: 'boolean' }, description, example);
}

export function texts(description: string, example: readonly string[]): Field {
  return field({ kind: 'list', items: { kind: 'text' } }, description, example);
}

export function object(description: string, fields: Fields): Field {
  return field({ kind: 'object', fields }, description, exampleOf(fields));
}

export function anyObject(description: string, example: Json): Field {
  return field({ kind: 'anyObject' }, description, example);
}

export function objects(description: string, fields: Fields): Field {
  return field({ kind: 'list', items: { kind: 'object', fields } }, description, [exampleOf(fields)]);
}

export function exampleOf(fields: Fields): Record<string, Json> {
  return Object.fromEntries(Object.entries(fields).map(([name, { example }]) => [name, example]));
}
