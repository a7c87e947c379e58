import type { Fields, Json, Shape } from '../../contract/field.ts';
import { OFFER } from '../../contract/resources.ts';
import { objectIn, parseObject, textIn } from '../format/json-values.ts';

/**
 * A form that records must have. Its check takes the bytes of a record as Latin-1, one character for each byte:
 * decoding them as UTF-8 takes longer and does not change the outcome, since the structure of JSON is ASCII.
 */
export interface RecordForm {
  readonly name: string;
  readonly isOf: (record: string) => boolean;
  /** Digests of runs whose records are known to have the form. They are not checked again. */
  readonly knownRuns?: ReadonlySet<string> | undefined;
}

/** Any JSON object. */
export const JSON_OBJECT: RecordForm = {
  name: 'a JSON object',
  isOf: (record) => parseObject(record) !== undefined,
};

/** The output of JSON.stringify for the declared fields of an offer, in the declared order. */
export const STORED_OFFER: RecordForm = { name: 'an offer in its stored form', isOf: isStoredOffer };

type Check = (value: Json) => boolean;

const OFFER_CHECKS: ReadonlyMap<string, Check> = new Map(
  Object.entries(OFFER.variants).map(([type, fields]) => [type, fieldsCheck(fields)]),
);

function isStoredOffer(record: string): boolean {
  const offer = parseObject(record);
  if (offer === undefined) return false;
  // The fields are checked first: JSON.stringify overflows the stack where values are nested without a bound.
  return OFFER_CHECKS.get(textIn(offer['type']))?.(offer) === true && JSON.stringify(offer) === record;
}

/** Compiles a check for an object with exactly the given fields, in this order. */
function fieldsCheck(fields: Fields): Check {
  const names = Object.keys(fields);
  const checks = Object.values(fields).map(({ shape }) => shapeCheck(shape));
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

/** Compiles a check of the structure of a value. Scalars of any type pass. */
function shapeCheck(shape: Shape): Check {
  if (shape.kind === 'list') {
    const check = shapeCheck(shape.items);
    return (value) => Array.isArray(value) && value.every(check);
  }
  if (shape.kind === 'object') {
    const check = fieldsCheck(shape.fields);
    return (value) => value === null || check(value);
  }
  return (value) => typeof value !== 'object' || value === null;
}
