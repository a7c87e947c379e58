import type { Json } from '../../contract/field.ts';

/** Looking into records whose form was checked: what is not of the kind asked for counts as absent. */

export type JsonObject = Readonly<Record<string, Json>>;

/** A text; empty when it is absent. */
export function textIn(value: Json | undefined): string {
  return isText(value) ? value : '';
}

export function textsIn(value: Json | undefined): readonly string[] {
  return isList(value) ? value.filter(isText) : [];
}

export function objectIn(value: Json | undefined): JsonObject | undefined {
  return isObject(value) ? value : undefined;
}

/** The objects in a list. */
export function objectsIn(value: Json | undefined): readonly JsonObject[] {
  return isList(value) ? value.filter(isObject) : [];
}

/** The object that a JSON text is; undefined when it is none. */
export function parseObject(text: string): JsonObject | undefined {
  try {
    return objectIn(JSON.parse(text) as Json);
  } catch {
    return undefined;
  }
}

function isText(value: Json | undefined): value is string {
  return typeof value === 'string';
}

function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !isList(value);
}
