import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import type { Field, Fields, Shape } from '../src/contract/field.ts';
import type { CollectionName } from '../src/contract/operations.ts';
import { importOnlyFields, ORGANIZATION_FIELDS } from '../src/snapshot/builder/import/import-schema.ts';
import { COLLECTIONS } from '../src/snapshot/format/layout.ts';

const page = readFileSync(fileURLToPath(new URL('../docs/data.md', import.meta.url)), 'utf8');

const KINDS: Readonly<Record<Exclude<Shape['kind'], 'choice' | 'list'>, string>> = {
  text: 'text',
  timestamp: 'timestamp',
  timeZone: 'time zone',
  number: 'number',
  integer: 'integer',
  boolean: 'boolean',
  object: 'object',
  anyObject: 'object with any fields',
};

function typeOf(shape: Shape): string {
  if (shape.kind === 'choice') return shape.values.map((value) => `\`${value}\``).join(', ');
  if (shape.kind === 'list') return `list of ${typeOf(shape.items).replace(/(text|object)$/, '$1s')}`;
  return shape.kind === 'text' && shape.nonEmpty ? 'text, not empty' : KINDS[shape.kind];
}

/** Returns the table rows of imported fields, each object followed by its own fields. */
function rowsOf(fields: Fields, path = ''): string[] {
  return Object.entries(fields)
    .filter(([, { derived }]) => !derived)
    .flatMap(([name, { shape, required, description }]: [string, Field]) => {
      const row = `| \`${path}${name}\` | ${typeOf(shape)} |${required ? ' yes' : ''} | ${description} |`;
      const element = shape.kind === 'list' ? shape.items : shape;
      const suffix = shape.kind === 'list' ? '[]' : '';
      return element.kind === 'object' ? [row, ...rowsOf(element.fields, `${path}${name}${suffix}.`)] : [row];
    });
}

function rowsOfCollection(name: CollectionName, variants: Readonly<Record<string, Fields>>): string[] {
  const rows = Object.values(variants).map((fields) => rowsOf(fields));
  const common = rows[0].filter((row) => rows.every((others) => others.includes(row)));
  const types = Object.keys(variants).filter((type) => type !== '');
  return [
    ...rowsOf(importOnlyFields(name)),
    ...common,
    ...types.flatMap((type, i) => [
      `| **${type}** | | | |`,
      ...rows[i].filter((row) => !common.includes(row)),
    ]),
  ];
}

/** Returns the rows of the table in a section of the page, without its head. */
function tableOf(name: string): string[] {
  const [, section] = page.split(`### ${name}.ndjson\n`);
  return Array.from(
    section
      .split('\n## ')[0]
      .split('\n### ')[0]
      .matchAll(/^\|.*\|$/gm),
    ([row]) => row,
  ).slice(2);
}

describe('docs/data.md', () => {
  it('has the fields of organizations.ndjson', () => {
    expect(tableOf('organizations')).to.deep.equal(rowsOf(ORGANIZATION_FIELDS));
  });

  for (const { name, resource } of COLLECTIONS) {
    it(`has the fields of ${name}.ndjson`, () => {
      const wanted = rowsOfCollection(name, resource.variants);
      expect(tableOf(name), wanted.join('\n')).to.deep.equal(wanted);
    });
  }
});
