import type { Schema } from '../parameter.ts';

/**
 * Converts the OpenAPI 3.1 document to 3.0.3 (https://spec.openapis.org/oas/v3.0.3.html): a schema there has one type,
 * `nullable` in place of the type null, neither `const` nor `examples`, and nothing beside a `$ref`.
 */
export function inOpenApi30(document: Schema): Schema {
  return { ...convertedObject(document), openapi: '3.0.3' };
}

function converted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(converted);
  return typeof value === 'object' && value !== null ? convertedObject(value) : value;
}

function convertedObject(object: object): Schema {
  if ('$ref' in object) return { $ref: object.$ref };
  return Object.fromEntries(Object.entries(object).flatMap(([key, value]) => convertedEntry(key, value)));
}

function convertedEntry(key: string, value: unknown): [key: string, value: unknown][] {
  if (key === 'const') return [['enum', [value]]];
  // Data, which is not converted.
  if (key === 'example') return [[key, value]];
  if (!Array.isArray(value)) return [[key, converted(value)]];
  const [first, ...others] = value as readonly unknown[];
  if (key === 'examples') return [['example', first]];
  if (key === 'type') return [['type', first], ['nullable', true]]; // prettier-ignore
  // A nullable object is the only union with null.
  if (key === 'oneOf' && others.some((one) => typeof one === 'object' && one !== null && 'type' in one))
    return [['type', 'object'], ['allOf', [first]], ['nullable', true]]; // prettier-ignore
  return [[key, converted(value)]];
}
