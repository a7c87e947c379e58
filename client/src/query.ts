/**
 * Encodes filters as a query string. `{ updatedAt: { gte } }` becomes `updatedAt.gte`, and a list is joined by commas.
 * Undefined values are omitted. Throws a RangeError for values that a query cannot express.
 */
export function encodeQuery(filters: object): string {
  const pairs: string[] = [];
  const add = (name: string, text: string) => pairs.push(`${name}=${text}`);
  for (const [name, value] of Object.entries(filters) as [string, unknown][]) {
    if (value === undefined) continue;
    if (Array.isArray(value)) add(name, value.map((one) => encodeElement(name, one)).join(','));
    else if (isBounds(value)) {
      for (const [bound, instant] of Object.entries(value) as [string, unknown][])
        if (instant !== undefined) add(`${name}.${bound}`, encodeInstant(`${name}.${bound}`, instant));
    } else add(name, encodeText(name, value));
  }
  return pairs.join('&');
}

/** Reports whether a value is an object of bounds such as `{ gte, lte }`. */
function isBounds(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !(value instanceof Date);
}

/** Encodes a value. The `+` becomes `%2B`: a bare one would arrive as a space. */
function encodeText(name: string, value: unknown): string {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean')
    throw new TypeError(`${name}: must be a string, number or boolean`);
  return encodeURIComponent(value);
}

function encodeElement(name: string, value: unknown): string {
  if (typeof value === 'string' && value.includes(','))
    throw new RangeError(`${name}: the service cannot filter by "${value}", since commas separate values`);
  return encodeText(name, value);
}

function encodeInstant(name: string, value: unknown): string {
  if (value instanceof Date) {
    if (Number.isNaN(value.getTime())) throw new RangeError(`${name}: the date is invalid`);
    return encodeURIComponent(value.toISOString());
  }
  if (typeof value !== 'string') throw new TypeError(`${name}: must be a Date or an ISO 8601 string`);
  if (!/T.*(?:Z|[+-]\d\d(?::?\d\d)?)$/.test(value))
    throw new RangeError(`${name}: "${value}" must have a time, and end in Z or an offset such as +01:00`);
  return encodeURIComponent(value);
}
