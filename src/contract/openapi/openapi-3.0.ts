import type { Schema } from '../parameter.ts';

const NULLABLE = /\[\{"\$ref":"#\/components\/schemas\/(\w+)"\},\{"type":"null"\}\]/g;

/**
 * Converts the OpenAPI 3.1 document to 3.0.3 (https://spec.openapis.org/oas/v3.0.3.html): a schema there has one type,
 * `nullable` in place of the type null, neither `const` nor `examples`, and nothing beside a `$ref`.
 */
export function inOpenApi30(document: Schema): unknown {
  // Null must be valid for the schema that is referred to, too.
  const nullable = new Set(Array.from(JSON.stringify(document).matchAll(NULLABLE), ([, name]) => name));
  return converted(document);

  function converted(value: unknown, name = ''): unknown {
    if (Array.isArray(value)) return value.map((each) => converted(each));
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(value);
    return Object.fromEntries([
      ...entries.flatMap(([key, each]) => convertedEntry(key, each, entries.length > 1)),
      ...(nullable.has(name) ? [['nullable', true]] : []),
    ]);
  }

  function convertedEntry(key: string, value: unknown, hasSiblings: boolean): [string, unknown][] {
    if (key === 'openapi') return [[key, '3.0.3']];
    if (key === 'const') return [['enum', [value]]];
    if (key === '$ref' && hasSiblings) return [['allOf', [{ $ref: value }]]];
    // Data, which is not converted.
    if (key === 'example') return [[key, value]];
    if (!Array.isArray(value)) return [[key, converted(value, key)]];
    const [first, ...others] = value as readonly unknown[];
    if (key === 'examples') return [['example', first]];
    if (key === 'type') return [['type', first], ['nullable', true]]; // prettier-ignore
    // A nullable object is the only union with null.
    if (key === 'oneOf' && others.some((one) => typeof one === 'object' && one !== null && 'type' in one))
      return [['type', 'object'], ['allOf', [first]], ['nullable', true]]; // prettier-ignore
    return [[key, converted(value)]];
  }
}
