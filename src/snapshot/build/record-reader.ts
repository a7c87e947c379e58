import type { ValidateFunction } from 'ajv';
import { type Instant, parseTimestamp } from '../../contract/timestamp.ts';
import { type JsonObject, parseObject, textIn } from '../format/json-values.ts';
import type { CollectionLayout, ImportedRecord } from '../format/layout.ts';
import { MAX_RECORD_BYTES } from '../format/schema.ts';
import { ORGANIZATIONS_FILE } from './import-files.ts';
import {
  compileCheck,
  compileNormalize,
  type FieldCounts,
  type FieldProblem,
  importOnlyFields,
  NO_OBJECT,
  type Normalize,
  problemOf,
} from './import-schema.ts';

/** A valid line of the import. */
export interface ReadRecord extends ImportedRecord {
  /** Position of its organization in the order of the ids. */
  readonly organization: number;
  readonly id: string;
  /** The timestamp that orders the list. */
  readonly orderedBy: Instant;
  /** The stored JSON text. */
  readonly json: string;
}

export type Reading = ReadRecord | { readonly problem: FieldProblem };

interface Variant {
  readonly check: ValidateFunction;
  readonly normalize: Normalize;
}

/** Reads the lines of one import file: parses and checks them, and converts them to the stored form. */
export class RecordReader {
  readonly layout: CollectionLayout;
  readonly #organizations: ReadonlyMap<string, number>;
  readonly #variants: ReadonlyMap<string, Variant>;

  /** @param organizations positions by id */
  constructor(layout: CollectionLayout, organizations: ReadonlyMap<string, number>) {
    this.layout = layout;
    this.#organizations = organizations;
    const importOnly = importOnlyFields(layout.name);
    this.#variants = new Map(
      Object.entries(layout.resource.variants).map(([type, fields]) => [
        type,
        {
          check: compileCheck({ ...importOnly, ...fields }),
          normalize: compileNormalize(fields, '', Object.keys(importOnly)),
        },
      ]),
    );
  }

  /** Reads a line. Counts undeclared fields in `dropped`. */
  read(line: string, dropped: FieldCounts): Reading {
    const record = parseObject(line);
    if (record === undefined) return { problem: NO_OBJECT };
    const variant = this.#variants.get('') ?? this.#variants.get(textIn(record['type']));
    if (variant === undefined)
      return rejected('type', `must be one of ${[...this.#variants.keys()].join(', ')}`);
    if (!variant.check(record)) return { problem: problemOf(variant.check) };
    const organizationId = textIn(record['organizationId']);
    const organization = this.#organizations.get(organizationId);
    if (organization === undefined)
      return rejected('organizationId', `"${organizationId}" is not in ${ORGANIZATIONS_FILE}.ndjson`);

    const served = variant.normalize(record, dropped) as JsonObject;
    const json = JSON.stringify(served);
    // A UTF-16 code unit takes at most three bytes in UTF-8, so short texts need not be measured.
    if (json.length * 3 > MAX_RECORD_BYTES && Buffer.byteLength(json) > MAX_RECORD_BYTES)
      return rejected('', `the record is larger than ${MAX_RECORD_BYTES} bytes`);
    const { resource, orderedBy } = this.layout;
    return {
      organization,
      id: textIn(served[resource.id]),
      orderedBy: parseTimestamp(textIn(served[orderedBy.field])) ?? 0n,
      json,
      served,
      imported: record,
    };
  }
}

function rejected(field: string, reason: string): Reading {
  return { problem: { field, reason } };
}
