import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import type { Field, Fields, Shape } from '../src/contract/field.ts';
import type { CollectionName } from '../src/contract/operations.ts';
import { importOnlyFields, ORGANIZATION_FIELDS } from '../src/snapshot/build/import-schema.ts';
import { COLLECTIONS } from '../src/snapshot/format/layout.ts';
import { build, recordsOf } from './support/import-folder.ts';
import { readSnapshot } from '../src/snapshot/load/read-snapshot.ts';
import { folderForAll } from './support/temporary-folder.ts';

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
  const folder = folderForAll();

  it('has the fields of organizations.ndjson', () => {
    expect(tableOf('organizations')).to.deep.equal(rowsOf(ORGANIZATION_FIELDS));
  });

  for (const { name, resource } of COLLECTIONS) {
    it(`has the fields of ${name}.ndjson`, () => {
      const wanted = rowsOfCollection(name, resource.variants);
      expect(tableOf(name), wanted.join('\n')).to.deep.equal(wanted);
    });
  }

  it('converts CSV files by DuckDB', async function () {
    this.timeout(60_000);
    const [, sql] = /```sql\n(.*?)```/s.exec(page) ?? [];
    if (spawnSync('python3', ['-c', 'import duckdb']).status !== 0) this.skip();
    mkdirSync(folder('csv'));
    mkdirSync(folder('import'));
    const files = {
      organizations: 'id,name\norg_1,Théâtre des Quais\n',
      events:
        'id,organization_id,title,created_at,tags\nevt_1,org_1,"Le ""Misanthrope""",2026-07-01 10:00:00,classic|theatre\n',
      sessions: 'id,event_id,start_at,minutes\nses_1,evt_1,2026-12-10 20:30:00,110\n',
      tickets: `id,order_id,event_id,session_id,status,qr_code,price,issued_at,updated_at
tkt_1,ord_1,evt_1,ses_1,FULFILLED,00417,42.75,2026-07-02 09:05:00,2026-07-02 09:05:00
tkt_2,ord_1,evt_1,ses_1,FULFILLED,00418,,2026-07-02 09:05:00,2026-07-02 09:05:00\n`,
      orders: `id,number,status,email,customer_id,total,created_at,updated_at
ord_1,A-1,FULFILLED,zoe@example.org,cus_1,85.50,2026-07-02 09:00:00,2026-07-02 09:05:00\n`,
      order_items:
        'order_id,offer_id,event_id,session_id,quantity,unit_price\nord_1,off_1,evt_1,ses_1,2,42.75\n',
    };
    for (const [name, text] of Object.entries(files)) writeFileSync(folder(`csv/${name}.csv`), text);
    const { status, stderr } = spawnSync(
      'python3',
      ['-c', 'import duckdb, sys; duckdb.connect().execute(sys.argv[1])', sql],
      { cwd: folder(''), encoding: 'utf8' },
    );
    expect(status, stderr).to.equal(0);
    await build(folder('import'), folder('a.sqlite'));
    const [organization] = readSnapshot(folder('a.sqlite')).organizations;
    expect(recordsOf(organization.events).get('evt_1')).to.include({
      title: 'Le "Misanthrope"',
      createdAt: '2026-07-01T08:00:00Z',
      firstSessionStartAt: '2026-12-10T19:30:00Z',
    });
    expect(recordsOf(organization.tickets).get('tkt_1')).to.include({ listPrice: 42.75, qrCode: '00417' });
    expect(recordsOf(organization.tickets).get('tkt_2')).to.include({ listPrice: null, qrCode: '00418' });
    expect(recordsOf(organization.orders).get('ord_1')).to.deep.include({
      totalPrice: 85.5,
      customer: { customerId: 'cus_1', email: 'zoe@example.org', firstName: null, lastName: null },
    });
  });
});
