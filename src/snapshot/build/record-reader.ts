import type { ValidateFunction } from 'ajv';
import type { Fields } from '../../contract/field.ts';
import { type Instant, parseTimestamp } from '../../contract/timestamp.ts';
import { type JsonObject, parseObject, textIn } from '../format/json-values.ts';
import type { CollectionLayout, ImportedRecord } from '../format/layout.ts';
import { MAX_RECORD_BYTES } from '../format/schema.ts';
import { asideFields } from './import-files.ts';
import {
  compileCheck,
  compileNormalize,
  type FieldProblem,
  type Normalize,
  problemOf,
} from './import-schema.ts';

/** A line of the import that is in order. */
export interface ReadRecord extends ImportedRecord {
  /** Position of its organization in the order of the ids. */
  readonly organization: number;
  readonly id: string;
  /** The timestamp that the list is ordered by. */
  readonly orderedBy: Instant;
  /** The JSON text that is stored. */
  readonly json: string;
}

export type Reading = ReadRecord | { readonly problem: FieldProblem };

interface Variant {
  readonly check: ValidateFunction;
  readonly normalize: Normalize;
}

/** Reads the lines of one import file: parses, checks, and brings into the stored form. */
export class RecordReader {
  readonly #layout: CollectionLayout;
  readonly #organizations: ReadonlyMap<string, number>;
  readonly #variants: ReadonlyMap<string, Variant>;
  /** How often each field was dropped, since the specification does not have it. */
  readonly dropped = new Map<string, number>();
  readonly #drop = (field: string) => {
    this.dropped.set(field, (this.dropped.get(field) ?? 0) + 1);
  };

  /** @param organizations position of each by its id */
  constructor(layout: CollectionLayout, organizations: ReadonlyMap<string, number>) {
    this.#layout = layout;
    this.#organizations = organizations;
    const aside = asideFields(layout);
    this.#variants = new Map(
      Object.entries(layout.resource.variants).map(([type, fields]) => [type, compileVariant(fields, aside)]),
    );
  }

  read(line: string): Reading {
    const record = parseObject(line);
    if (record === undefined) return { problem: { field: '', reason: 'the line is not a JSON object' } };
    const variant = this.#variantOf(record);
    if (variant === undefined) {
      return {
        problem: { field: 'type', reason: `must be one of ${[...this.#variants.keys()].join(', ')}` },
      };
    }
    if (!variant.check(record)) {
      return { problem: problemOf(variant.check) };
    }
    return this.#stored(record, variant);
  }

  #stored(record: JsonObject, variant: Variant): Reading {
    const organizationId = textIn(record['organizationId']);
    const organization = this.#organizations.get(organizationId);
    if (organization === undefined) {
      return {
        problem: { field: 'organizationId', reason: `"${organizationId}" is not in organizations.ndjson` },
      };
    }
    const served = variant.normalize(record, this.#drop) as JsonObject;
    const json = JSON.stringify(served);
    // A character is at most three bytes: only a text that may be too long is measured.
    if (json.length * 3 > MAX_RECORD_BYTES && Buffer.byteLength(json) > MAX_RECORD_BYTES) {
      return { problem: { field: '', reason: `the record is larger than ${MAX_RECORD_BYTES} bytes` } };
    }
    return {
      organization,
      id: textIn(served[this.#layout.resource.id]),
      orderedBy: parseTimestamp(textIn(served[this.#layout.orderedBy.field])) ?? 0n,
      json,
      served,
      imported: record,
    };
  }

  #variantOf(record: JsonObject): Variant | undefined {
    const only = this.#variants.get('');
    return only ?? this.#variants.get(textIn(record['type']));
  }
}

function compileVariant(fields: Fields, aside: Fields): Variant {
  return {
    check: compileCheck({ ...aside, ...fields }),
    normalize: compileNormalize(fields, '', Object.keys(aside)),
  };
}
