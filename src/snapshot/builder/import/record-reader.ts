import { type Instant, parseTimestamp } from '../../../contract/timestamp.ts';
import { type JsonObject, parseObject, textIn } from '../../format/json-values.ts';
import type { CollectionLayout, ImportedRecord } from '../../format/layout.ts';
import { MAX_RECORD_BYTES } from '../../format/schema.ts';
import { ORGANIZATIONS_FILE } from './import-files.ts';
import type { BadOrganizations } from '../staging/import-organizations.ts';
import {
  type Check,
  compileCheck,
  compileNormalize,
  importOnlyFields,
  type Normalize,
} from './import-schema.ts';
import type { LineNotes } from './line-notes.ts';
import { malformed } from './malformed-line.ts';
import { type FieldProblem, quoted } from './problems.ts';

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

export type Reading = ReadRecord | BadRecord;

export interface BadRecord {
  readonly problems: readonly FieldProblem[];
  /** Undefined when the line is not an object. */
  readonly imported: JsonObject | undefined;
}

interface Variant {
  readonly check: Check;
  readonly normalize: Normalize;
}

/** Reads the lines of one import file: parses and checks them, and converts them to the stored form. */
export class RecordReader {
  readonly layout: CollectionLayout;
  readonly #organizations: ReadonlyMap<string, number>;
  readonly #badOrganizations: BadOrganizations;
  readonly #variants: ReadonlyMap<string, Variant>;
  /** Checks the fields that all variants have. */
  readonly #checkCommon: Check;

  /** @param organizations positions by id */
  constructor(
    layout: CollectionLayout,
    organizations: ReadonlyMap<string, number>,
    badOrganizations: BadOrganizations,
  ) {
    this.layout = layout;
    this.#organizations = organizations;
    this.#badOrganizations = badOrganizations;
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
    const [first, ...others] = Object.values(layout.resource.variants);
    const common = Object.entries(first).filter(
      ([name]) => name !== 'type' && others.every((fields) => name in fields),
    );
    this.#checkCommon = compileCheck({ ...importOnly, ...Object.fromEntries(common) });
  }

  /** Reads a line. Notes its undeclared fields and repeated keys. */
  read(line: string, notes: LineNotes): Reading {
    const imported = parseObject(line);
    if (imported === undefined) return { problems: [malformed(line)], imported };
    const variant = this.#variants.get('') ?? this.#variants.get(textIn(imported['type']));
    const organization = this.#organizations.get(textIn(imported['organizationId']));
    const problems = variant?.check(imported) ?? this.#problemsOfType(imported);
    if (organization === undefined) return { problems: this.#withOrganization(problems, imported), imported };
    if (variant === undefined || problems.length > 0) return { problems, imported };

    const served = variant.normalize(imported, notes) as JsonObject;
    const json = JSON.stringify(served);
    // A UTF-16 code unit takes at most three bytes in UTF-8, so short texts need not be measured.
    if (json.length * 3 > MAX_RECORD_BYTES && Buffer.byteLength(json) > MAX_RECORD_BYTES)
      return { problems: [TOO_LARGE], imported };
    notes.checkKeys(line);
    const { resource, orderedBy } = this.layout;
    return {
      organization,
      id: textIn(served[resource.id]),
      orderedBy: parseTimestamp(textIn(served[orderedBy.field])) ?? 0n,
      json,
      served,
      imported,
    };
  }

  /** Returns the problems of a record whose type is not a variant. It is checked as the variant in capitals, if any. */
  #problemsOfType(imported: JsonObject): readonly FieldProblem[] {
    const meant = this.#variants.get(textIn(imported['type']).trim().toUpperCase());
    const others = meant?.check(imported).filter(({ field }) => field !== 'type');
    return [
      {
        field: 'type',
        reason: `must be one of ${[...this.#variants.keys()].join(', ')}`,
        found: 'type' in imported ? quoted(imported['type']) : undefined,
      },
      ...(others ?? this.#checkCommon(imported)),
    ];
  }

  /** Adds that the organization is unknown to the other problems of a record. */
  #withOrganization(
    problems: readonly FieldProblem[],
    { organizationId }: JsonObject,
  ): readonly FieldProblem[] {
    if (problems.some(({ field }) => field === 'organizationId')) return problems;
    const { ids, isAnyUnknown } = this.#badOrganizations;
    const unknown: FieldProblem = {
      field: 'organizationId',
      reason: `must be in ${ORGANIZATIONS_FILE}.ndjson`,
      found: quoted(organizationId),
      follows: isAnyUnknown || ids.has(textIn(organizationId)),
    };
    return [...problems, unknown];
  }
}

const TOO_LARGE: FieldProblem = {
  field: '',
  reason: `must not be a record of more than ${MAX_RECORD_BYTES} bytes`,
};
