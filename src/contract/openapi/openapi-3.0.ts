/**
 * Converts the OpenAPI 3.1 document to 3.0.3 (https://spec.openapis.org/oas/v3.0.3.html): a schema there has one type,
 * `nullable` in place of the type null, neither `const` nor `examples`, and nothing beside a `$ref`.
 */
export function inOpenApi30(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOpenApi30);
  if (typeof value !== 'object' || value === null) return value;
  if ('$ref' in value) return { $ref: value.$ref };
  return Object.fromEntries(Object.entries(value).flatMap(([key, each]) => convertedEntry(key, each)));
}

function convertedEntry(key: string, value: unknown): [key: string, value: unknown][] {
  if (key === 'openapi') return [[key, '3.0.3']];
  if (key === 'const') return [['enum', [value]]];
  // Data, which is not converted.
  if (key === 'example') return [[key, value]];
  if (!Array.isArray(value)) return [[key, inOpenApi30(value)]];
  const [first, ...others] = value as readonly unknown[];
  if (key === 'examples') return [['example', first]];
  if (key === 'type') return [['type', first], ['nullable', true]]; // prettier-ignore
  // A nullable object is the only union with null.
  if (key === 'oneOf' && others.some((one) => typeof one === 'object' && one !== null && 'type' in one))
    return [['type', 'object'], ['allOf', [first]], ['nullable', true]]; // prettier-ignore
  return [[key, inOpenApi30(value)]];
}
