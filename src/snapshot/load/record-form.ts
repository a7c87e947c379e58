import type { Field, Fields, Json, Resource, Shape } from '../../contract/field.ts';
import { EVENT, EVENT_SESSION, OFFER, ORDER, TICKET } from '../../contract/resources.ts';
import { isServedForm } from '../../contract/timestamp.ts';
import { type JsonObject, objectIn, parseObject, textIn } from '../format/json-values.ts';

export interface RecordForm {
  readonly name: string;
  /**
   * Parses a record. Returns undefined if it does not have the form. For the check alone, Latin-1 text, one character
   * for each byte, suffices: decoding UTF-8 takes longer, and the structure of JSON is ASCII.
   */
  readonly read: (record: string) => JsonObject | undefined;
}

export const STORED_EVENT = storedForm('an event', EVENT);
export const STORED_SESSION = storedForm('a session', EVENT_SESSION);
export const STORED_OFFER = storedForm('an offer', OFFER);
/** Serving copies these records, and searches no text in them: any notation of their values will do. */
export const STORED_TICKET = storedForm('a ticket', TICKET, false);
export const STORED_ORDER = storedForm('an order', ORDER, false);

/**
 * Returns the form of an object with the stored fields of a resource, in the declared order.
 * @param isExact whether the text is the output of JSON.stringify
 */
function storedForm(name: string, { variants }: Resource, isExact = true): RecordForm {
  const checks: ReadonlyMap<string, Check> = new Map(
    Object.entries(variants).map(([type, fields]) => [type, fieldsCheck(fields)]),
  );
  return {
    name: `${name} in its stored form`,
    read: (text) => {
      const record = parseObject(text);
      const check = record && (checks.get('') ?? checks.get(textIn(record['type'])));
      // The fields are checked first: JSON.stringify overflows the stack where values are nested without a bound.
      if (check?.(record) !== true) return undefined;
      return !isExact || JSON.stringify(record) === text ? record : undefined;
    },
  };
}

type Check = (value: Json | undefined) => boolean;

/** Compiles a check for an object with exactly the stored ones of the given fields, in this order. */
function fieldsCheck(fields: Fields): Check {
  const stored = Object.entries(fields).filter(([, { derived }]) => derived !== 'response');
  const names = stored.map(([name]) => name);
  const checks = stored.map(([, field]) => fieldCheck(field));
  return (value) => {
    const object = objectIn(value);
    if (object === undefined) return false;
    let i = 0;
    for (const name in object) {
      if (name !== names[i] || !checks[i](object[name])) return false;
      i++;
    }
    return i === names.length;
  };
}

function fieldCheck({ shape, required }: Field): Check {
  const check = shapeCheck(shape);
  return !required && shape.kind !== 'list' ? (value) => value === null || check(value) : check;
}

/** Compiles a check of the structure of a value. Scalars of any type pass, except timestamps of another form. */
function shapeCheck(shape: Shape): Check {
  if (shape.kind === 'list') {
    const check = shapeCheck(shape.items);
    return (value) => Array.isArray(value) && value.every(check);
  }
  if (shape.kind === 'object') return fieldsCheck(shape.fields);
  if (shape.kind === 'anyObject') return (value) => objectIn(value) !== undefined;
  if (shape.kind === 'timestamp')
    return (value) => typeof value === 'string' && isServedForm(value, shape.form);
  return (value) => typeof value !== 'object';
}
