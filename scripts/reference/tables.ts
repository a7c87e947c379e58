import { isDeepStrictEqual } from 'node:util';
import { CONFIG_VARIABLES } from '../../src/config.ts';
import { type Fields, fieldsIn, type Shape } from '../../src/contract/field.ts';
import { OPERATIONS, parametersOf } from '../../src/contract/operations.ts';
import { RELEASES } from '../../src/contract/releases.ts';
import { bytesInUse, memoryNeed } from '../../src/snapshot/admission/memory.ts';
import { importOnlyFields, ORGANIZATION_FIELDS } from '../../src/snapshot/builder/import/import-schema.ts';
import { DELETION_FIELDS } from '../../src/snapshot/builder/staging/read-import.ts';
import { COLLECTIONS, type CollectionLayout } from '../../src/snapshot/format/layout.ts';
import { REFUSALS } from '../../src/snapshot/format/refused-snapshot.ts';
import { MEGABYTE } from '../../src/store/memory/shared-arrays.ts';

/** The tables of the documents that derive from declarations in `src`, in Markdown. */

export function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  return [heads, heads.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** Parameters that every list has. */
const COMMON_PARAMETERS = ['page', 'perPage', 'snapshot'];

export function operationTable(): string {
  const released = new Set(RELEASES.flatMap(({ operations }) => operations));
  const rows = OPERATIONS.map((operation) => {
    const names = parametersOf(operation).map(({ name }) => name);
    return [
      `\`GET ${operation.path}\`${released.has(operation.id) ? '' : ' (preview)'}`,
      names.flatMap((name) => (COMMON_PARAMETERS.includes(name) ? [] : `\`${name}\``)).join(', '),
    ];
  });
  return table(['operation', 'parameters'], rows);
}

export function environmentTable(): string {
  const rows = Object.entries(CONFIG_VARIABLES).map(([name, variable]) => [
    `\`${name}\``,
    variable.default ?? '',
    variable.description,
  ]);
  return table(['variable', 'default', 'meaning'], rows);
}

export function refusalTable(): string {
  const rows = Object.entries(REFUSALS).map(([reason, advice]) => [`\`${reason}\``, advice]);
  return table(['reason', 'meaning and remedy'], rows);
}

export function memoryTable(): string {
  const megabytes = (bytes: number) => `${bytes / MEGABYTE} MB`;
  const oneThread = bytesInUse(0, 0, 1);
  return table(
    ['part', 'memory'],
    [
      ['process with one thread that answers requests, without data', megabytes(oneThread)],
      ['each further thread', megabytes(bytesInUse(0, 0, 2) - oneThread)],
      ['load, besides its data', megabytes(memoryNeed([]).peak)],
    ],
  );
}

/** Returns a section for each file of an import folder. */
export function importFileSections(): string {
  const sections = {
    organizations: fieldRows(ORGANIZATION_FIELDS),
    ...Object.fromEntries(COLLECTIONS.map((layout) => [layout.name, recordRows(layout)])),
    deletions: fieldRows(DELETION_FIELDS),
  };
  return Object.entries(sections)
    .map(([name, rows]) => `### ${name}.ndjson\n\n${table(['field', 'type', 'required', 'meaning'], rows)}`)
    .join('\n\n');
}

/** Returns the fields of an import record. Those of one `type` only follow a row that names the type. */
function recordRows({ name, resource }: CollectionLayout): string[][] {
  const variants = Object.entries(resource.variants).map(([type, fields]) => ({
    type,
    rows: fieldRows(fields),
  }));
  const isCommon = (row: string[]) =>
    variants.every(({ rows }) => rows.some((other) => isDeepStrictEqual(other, row)));
  return [
    ...fieldRows(importOnlyFields(name)),
    ...variants[0].rows.filter(isCommon),
    ...variants
      .filter(({ type }) => type !== '')
      .flatMap(({ type, rows }) => [[`**${type}**`, '', '', ''], ...rows.filter((row) => !isCommon(row))]),
  ];
}

function fieldRows(fields: Fields): string[][] {
  return Array.from(fieldsIn(fields))
    .filter(([, { derived }]) => !derived)
    .map(([path, { shape, required, description }]) => [
      `\`${path}\``,
      typeName(shape),
      required === true ? 'yes' : '',
      description,
    ]);
}

function typeName(shape: Shape): string {
  if (shape.kind === 'choice') return shape.values.map((value) => `\`${value}\``).join(', ');
  if (shape.kind === 'list') return `list of ${typeName(shape.items)}s`;
  if (shape.kind === 'text' && shape.nonEmpty) return 'text, not empty';
  // Such as "time zone" for `timeZone`.
  return shape.kind.replace(/[A-Z]/, (letter) => ` ${letter.toLowerCase()}`);
}
