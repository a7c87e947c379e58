import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { IANAZone } from 'luxon';
import type { Field, Fields, Json, Shape } from '../../contract/field.ts';
import { inUtc, parseTimestamp } from '../../contract/timestamp.ts';
import { type JsonObject, objectIn } from '../format/json-values.ts';

/** What the import asks of a record, and the form in which it is stored: both follow from the declared fields. */

const TIMESTAMP_RULE = 'an ISO 8601 date and time with Z or an offset, such as 2026-01-31T20:00:00+01:00';

/** Formats of ajv, each with the words for what it accepts. */
const FORMATS: Readonly<Record<string, { validate: (text: string) => boolean; accepts: string }>> = {
  // Text that is not well-formed Unicode could not be asked for: no URL can carry it.
  identifier: {
    validate: (text) => text !== '' && text.isWellFormed(),
    accepts: 'well-formed text that is not empty',
  },
  timestamp: { validate: (text) => parseTimestamp(text) !== undefined, accepts: TIMESTAMP_RULE },
  utcTimestamp: {
    validate: (text) => parseTimestamp(text) !== undefined && inUtc(text).endsWith('Z'),
    accepts: `${TIMESTAMP_RULE}, and of the years 0000 to 9999 in UTC`,
  },
  timeZone: {
    validate: isTimeZone,
    accepts: 'a region and city of the IANA time zone database, such as Europe/Paris',
  },
};

const knownZones = new Map<string, boolean>();

function isTimeZone(text: string): boolean {
  let known = knownZones.get(text);
  if (known === undefined) knownZones.set(text, (known = isRegionAndCity(text)));
  return known;
}

/** Luxon takes abbreviations such as EST, offsets such as +01:00 and any case, too. */
function isRegionAndCity(text: string): boolean {
  if (!/^[A-Z]\w*\//.test(text) || !IANAZone.isValidZone(text)) return false;
  const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions();
  return timeZone === text || timeZone.toLowerCase() !== text.toLowerCase();
}

const ajv = new Ajv({ allowUnionTypes: true, formats: FORMATS });

/** A check of imported objects: those of `fields` that are not derived, others let pass. */
export function compileCheck(fields: Fields): ValidateFunction {
  return ajv.compile(objectSchema(fields));
}

export interface FieldProblem {
  /** Where it is, such as `customer.email` or `placedItems[2].quantity`; empty for the record itself. */
  readonly field: string;
  /** What is wrong and what would be right. */
  readonly reason: string;
}

/** What a failed check found first. */
export function problemOf({ errors }: ValidateFunction): FieldProblem {
  const [error] = errors ?? [];
  return fieldProblem(error);
}

function fieldProblem({
  instancePath,
  keyword,
  params,
}: ErrorObject<string, Record<string, unknown>>): FieldProblem {
  const path = instancePath
    .replace(/\/(\d+)(?=\/|$)/g, '[$1]')
    .replaceAll('/', '.')
    .replace(/^\./, '');
  if (keyword === 'required') {
    const missing = String(params['missingProperty']);
    return { field: path === '' ? missing : `${path}.${missing}`, reason: 'is missing' };
  }
  return { field: path, reason: reasonOf(keyword, params) };
}

function reasonOf(keyword: string, params: Record<string, unknown>): string {
  if (keyword === 'type') return `must be ${listed(params['type'], ' or ')}`;
  if (keyword === 'enum') return `must be one of ${listed(params['allowedValues'], ', ')}`;
  return `must be ${FORMATS[String(params['format'])].accepts}`;
}

function listed(words: unknown, separator: string): string {
  return Array.isArray(words) ? words.join(separator) : String(words);
}

function objectSchema(fields: Fields): object {
  const imported = Object.entries(fields).filter(([, field]) => !field.derived);
  return {
    type: 'object',
    properties: Object.fromEntries(imported.map(([name, field]) => [name, fieldSchema(field)])),
    required: imported.filter(([, { required }]) => required).map(([name]) => name),
  };
}

function fieldSchema({ shape, required }: Field): object {
  const schema = shapeSchema(shape);
  return required ? schema : { ...schema, type: [schema.type, 'null'] };
}

function shapeSchema(shape: Shape): { type: string } & Record<string, unknown> {
  switch (shape.kind) {
    case 'text':
      return { type: 'string', ...(shape.nonEmpty && { format: 'identifier' }) };
    case 'choice':
      return { type: 'string', enum: shape.values };
    case 'timestamp':
      return { type: 'string', format: shape.utc ? 'utcTimestamp' : 'timestamp' };
    case 'timeZone':
      return { type: 'string', format: 'timeZone' };
    case 'list':
      return { type: 'array', items: shapeSchema(shape.items) };
    case 'object':
      return { ...objectSchema(shape.fields), type: 'object' };
    case 'anyObject':
      return { type: 'object' };
    case 'number':
    case 'integer':
    case 'boolean':
      return { type: shape.kind };
  }
}

/** Brings a checked value into its stored form. Calls `drop` with the path of each field that is not declared. */
export type Normalize = (value: Json | undefined, drop: (field: string) => void) => Json;

/**
 * The stored form of an object: every declared field in the declared order, absent ones as null or `[]`.
 * @param aside names of further fields that are expected and not stored
 */
export function compileNormalize(fields: Fields, path = '', aside: readonly string[] = []): Normalize {
  const stored = Object.entries(fields).filter(([, field]) => !field.derived);
  const names = stored.map(([name]) => name);
  const normalizers = stored.map(([name, { shape }]) => normalizeShape(shape, path + name));
  const known = new Set([...names, ...aside]);
  // To fill in a copy of an object that V8 has laid out once is several times faster, here and where the result
  // is written as JSON, than to add field after field to an empty one.
  const template = JSON.parse(
    JSON.stringify(Object.fromEntries(names.map((name) => [name, null]))),
  ) as JsonObject;
  return (value, drop) => {
    const object = objectIn(value);
    if (object === undefined) return null;
    const normalized: Record<string, Json> = { ...template };
    for (let i = 0; i < names.length; i++) normalized[names[i]] = normalizers[i](object[names[i]], drop);
    for (const name in object) if (!known.has(name)) drop(path + name);
    return normalized;
  };
}

function normalizeShape(shape: Shape, path: string): Normalize {
  switch (shape.kind) {
    case 'list': {
      const normalize = normalizeShape(shape.items, path);
      return (value, drop) => (Array.isArray(value) ? value.map((item: Json) => normalize(item, drop)) : []);
    }
    case 'object':
      return compileNormalize(shape.fields, `${path}.`);
    case 'timestamp':
      return shape.utc ? (value) => (typeof value === 'string' ? inUtc(value) : null) : asItIs;
    case 'text':
    case 'choice':
    case 'timeZone':
    case 'number':
    case 'integer':
    case 'boolean':
    case 'anyObject':
      return asItIs;
  }
}

const asItIs: Normalize = (value) => value ?? null;
