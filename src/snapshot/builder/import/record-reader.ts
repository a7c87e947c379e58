import { type Instant, parseTimestamp } from '../../../contract/timestamp.ts';
import { type JsonObject, textIn } from '../../format/json-values.ts';
import type { CollectionLayout, ColumnLayout, ImportedRecord } from '../../format/layout.ts';
import { MAX_RECORD_BYTES, MAX_ROW_BYTES } from '../../format/schema.ts';
import { ORGANIZATIONS_FILE } from './import-files.ts';
import { compileCheck, compileNormalize, importOnlyFields } from './import-schema.ts';
import type { LineNotes } from './line-notes.ts';
import { type FieldProblem, quoted } from './problems.ts';
import { rulesOf } from './rules.ts';

/** A value of an index column as it is stored: a list is a JSON array. */
export type ColumnValue = string | bigint;

/** A valid line of the import, in the form in which it is staged. */
export interface ReadRecord {
  /** Position of its organization in the order of the ids. */
  readonly organization: number;
  /** The timestamp that orders the list. */
  readonly instant: Instant;
  readonly id: string;
  readonly values: readonly ColumnValue[];
  /** The stored JSON text; an event lacks the fields that derive from its sessions. */
  readonly json: string;
}

const UNREACHABLE = 'must not be . or .., which no URL reaches';
const TOO_LARGE = `must not be a record of more than ${MAX_RECORD_BYTES} bytes`;
/** The id and the record take the rest of the row. */
const MAX_VALUES_BYTES = MAX_ROW_BYTES - 2 * MAX_RECORD_BYTES;
const TOO_LONG = `must not have ids and tags of more than ${MAX_VALUES_BYTES} bytes`;

type Reading = ReadRecord | { readonly problems: readonly FieldProblem[] };

/** Reads the object of a line. Notes its undeclared fields and repeated keys. */
export type ReadLine = (imported: JsonObject, notes: LineNotes, text: string) => Reading;

/**
 * Compiles the reader of one import file: it checks records, and converts them to the stored form.
 * @param bad ids of organizations that are bad; the empty text for an unknown one
 */
export function compileReader(
  layout: CollectionLayout,
  organizations: ReadonlyMap<string, number>,
  bad: ReadonlySet<string>,
): ReadLine {
  const { resource, orderedBy, columns } = layout;
  const variants = compileVariants(layout);
  return (imported, notes, text) => {
    const variant = variantOf(variants, imported);
    const organization = organizations.get(textIn(imported['organizationId']));
    const problems = variant?.check(imported) ?? problemsOfType(variants, imported);
    if (organization === undefined) return { problems: withOrganization(problems, imported, bad) };
    if (variant === undefined || problems.length > 0) return { problems };

    const served = variant.normalize(imported, notes) as JsonObject;
    const json = JSON.stringify(served);
    if (Buffer.byteLength(json) > MAX_RECORD_BYTES) return { problems: [{ field: '', reason: TOO_LARGE }] };
    notes.checkText(text);
    const id = textIn(served[resource.id]);
    if (id === '.' || id === '..')
      return { problems: [{ field: resource.id, reason: UNREACHABLE, found: quoted(id) }] };
    const instant = parseTimestamp(textIn(served[orderedBy.field])) ?? 0n;
    const values = columns.map((column) => columnValue(column, { served, imported }));
    const lengths = values.map((value) => (typeof value === 'string' ? Buffer.byteLength(value) : 0));
    const bytes = lengths.reduce((sum, length) => sum + length, 0);
    if (bytes > MAX_VALUES_BYTES) return { problems: [{ field: '', reason: TOO_LONG }] };
    return { organization, instant, id, values, json };
  };
}

type Variants = ReturnType<typeof compileVariants>;

/** Compiles the variants of a collection by type; without types, the only one has the empty name. */
export function compileVariants({ name, resource }: CollectionLayout) {
  const importOnly = importOnlyFields(name);
  return new Map(
    Object.entries(resource.variants).map(([type, fields]) => {
      const check = compileCheck({ ...importOnly, ...fields });
      const normalize = compileNormalize(fields, Object.keys(importOnly), rulesOf(name));
      return [type, { check, normalize }];
    }),
  );
}

export function variantOf(variants: Variants, record: JsonObject) {
  return variants.get('') ?? variants.get(textIn(record['type']));
}

/** Returns the problems of a record with a wrong type: of the variant in capitals, else of all variants. */
function problemsOfType(variants: Variants, imported: JsonObject): readonly FieldProblem[] {
  const meant = variants.get(textIn(imported['type']).trim().toUpperCase());
  const candidates = meant === undefined ? [...variants.values()] : [meant];
  const [problems, ...rest] = candidates.map(({ check }) => check(imported));
  const isOfAll = ({ field }: FieldProblem) =>
    rest.every((each) => each.some((other) => other.field === field));
  const reason = `must be one of ${[...variants.keys()].join(', ')}`;
  return [
    { field: 'type', reason, found: 'type' in imported ? quoted(imported['type']) : undefined },
    ...problems.filter((problem) => problem.field !== 'type' && isOfAll(problem)),
  ];
}

/** Adds that the organization is unknown to the other problems of a record. */
function withOrganization(
  problems: readonly FieldProblem[],
  { organizationId }: JsonObject,
  bad: ReadonlySet<string>,
): readonly FieldProblem[] {
  if (problems.some(({ field }) => field === 'organizationId')) return problems;
  const reason = `must be in ${ORGANIZATIONS_FILE}.ndjson`;
  const isConsequence = bad.has('') || bad.has(textIn(organizationId));
  return [...problems, { field: 'organizationId', reason, found: quoted(organizationId), isConsequence }];
}

function columnValue(column: ColumnLayout, record: ImportedRecord): ColumnValue {
  if (column.holds === 'instant') return column.of(record);
  // A URL cannot contain a lone surrogate.
  if (column.holds === 'list')
    return JSON.stringify([...new Set(column.of(record).filter((text) => text.isWellFormed()))].sort());
  const text = column.of(record);
  return text.isWellFormed() ? text : '';
}
