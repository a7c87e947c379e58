import type { Json } from '../../contract/field.ts';

/** Accessors for JSON that was validated: a value of another type counts as absent. */

export type JsonObject = Readonly<Record<string, Json>>;

/** Returns a text, or the empty text when absent. */
export function textIn(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

export function textsIn(value: Json | undefined): readonly string[] {
  return isList(value) ? value.filter((item) => typeof item === 'string') : [];
}

export function objectIn(value: Json | undefined): JsonObject | undefined {
  return isObject(value) ? value : undefined;
}

export function objectsIn(value: Json | undefined): readonly JsonObject[] {
  return isList(value) ? value.filter(isObject) : [];
}

/** Parses a JSON object. Returns undefined when the text is not one. */
export function parseObject(text: string): JsonObject | undefined {
  return objectIn(parseJson(text));
}

/** Returns undefined when the text is not JSON. */
export function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !isList(value);
}
