import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect } from 'chai';
import { contentDigest } from '../../src/snapshot/format/manifest.ts';
import { changesOf, inspectSnapshot } from '../../src/snapshot/format/open-snapshot.ts';
import { needs } from '../support/components.ts';
import { buildFile } from '../support/import-folder.ts';
import { FULL_RECORDS, inOrganization, minimalPricing, recordsIn } from '../support/records.ts';
import { folderForAll } from '../support/temporary-folder.ts';

/** Texts that programs encode in different ways. */
const TEXTS = [
  '"quoted" \\ and/or </script>',
  '\u0000\u0001\b\t\n\u000b\f\r\u001f\u007f\u0080',
  '🎭 \u{10ffff} \uffff',
  '\u2028\u2029\ufeff',
  'e\u0301 and é',
  'half of a character: \ud83c',
];

const wellFormed = TEXTS.filter((text) => text.isWellFormed());
const { event, session, ticket, order, offer } = recordsIn('north');
const organizations = [
  { organizationId: 'north', name: TEXTS.join() },
  { organizationId: '"\\', name: 'Name of an organization' },
  { organizationId: 'without-records' },
];

const HOSTILE = {
  organizations,
  events: [
    event('evt_1', { tags: [...TEXTS, 'Tag of an event'], title: 'Title of an event' }),
    ...wellFormed.map((id, i) => event(id, { createdAt: `0000-01-01T00:00:0${i}Z`, tags: [TEXTS[i]] })),
  ],
  sessions: ['evt_1', ...wellFormed].map((id) =>
    session(`of ${id}`, id, { startAt: '0000-01-01T00:00:00Z' }),
  ),
  tickets: wellFormed.map((text) => ticket(text, { orderId: text, qrCode: text })),
  orders: TEXTS.map((text, i) =>
    order(`ord_${i}`, {
      customer: { customerId: text, email: `${text}Mail@EXAMPLE.org` },
      placedItems: [...wellFormed, 'evt_1'].map((eventId) => ({ eventId, quantity: 1 })),
    }),
  ),
  offers: TEXTS.map((name, i) =>
    offer(`off_${i}`, 'TICKET', {
      name,
      eventId: wellFormed[i] ?? 'evt_1',
      pricing: [true, false].map((resaleEnabled) => minimalPricing(name, { resaleEnabled })),
    }),
  ),
};

/** Deletes records, and adds those with every field to the other organization. */
const CHANGES = {
  organizations,
  deletions: [
    ...wellFormed.slice(1).map((id) => ({ collection: 'tickets', id })),
    { collection: 'orders', id: 'ord_1' },
  ].map(inOrganization('north')),
  ...Object.fromEntries(
    Object.entries(FULL_RECORDS).map(([name, records]) => [name, records.map(inOrganization('"\\'))]),
  ),
};

describe('A program in Python that knows docs/snapshot-format.md alone', () => {
  needs('Python 3.11 with venv');
  const inFolder = folderForAll();
  /** A whole file without changes, and one with changes. */
  const path = () => inFolder('whole/a.sqlite');
  const served = () => inFolder('served/a.sqlite');

  before(async () => {
    for (const folder of ['whole', 'served']) mkdirSync(inFolder(folder));
    const producedAt = new Date('2026-11-20T12:00:00.001Z');
    await buildFile(HOSTILE, served(), { producedAt });
    await buildFile(CHANGES, path(), { base: served() });
    await buildFile(CHANGES, served(), { base: served(), permits: [], allowShrink: true });
  });

  /** Returns what the program computes of a file, and of its changes if there are any. */
  function computed(file: string) {
    const program = join(import.meta.dirname, 'read-snapshot.py');
    return JSON.parse(execFileSync('python3', [program, file], { encoding: 'utf8' })) as {
      readonly whole: Computed;
      readonly changes?: Computed;
    };
  }

  const contentsOf = (file: string) =>
    Object.fromEntries(
      inspectSnapshot(file).organizations.map((one) => [one.organizationId, contentDigest(one)]),
    );

  it('finds the digests and the numbers that a file with hostile texts declares', () => {
    const { whole, changes } = computed(path());
    expect(changes).to.equal(undefined);
    expect(whole).to.deep.equal({ ...declaredIn(path()), contents: contentsOf(path()) });
    expect(whole.lists).to.have.length(10);
  });

  it('finds those of a whole file and its changes', () => {
    const { whole, changes } = computed(served());
    expect(whole).to.deep.include(declaredIn(served()));
    expect(changes).to.deep.equal({ ...declaredIn(changesOf(served())), contents: contentsOf(served()) });
    expect(changes?.contents).to.deep.equal(contentsOf(path()));
    expect(changes?.contents).to.not.deep.equal(whole.contents);
  });

  for (const [place, bytes, part] of [
    ['a record', 'Title of an event', 'lists'],
    ['a text in a column', 'mail@example.org', 'lists'],
    ['a list in a column', 'tag of an event', 'lists'],
    ['a deletion', 'ord_1', 'organizations'],
    ['the name of an organization', 'Name of an organization', 'digest'],
  ] as const)
    it(`notices a changed byte in ${place}`, () => {
      const copy = inFolder('copy.sqlite');
      copyFileSync(path(), copy);
      const content = readFileSync(copy);
      const at = content.lastIndexOf(bytes);
      content[at + bytes.length - 1] ^= 1;
      writeFileSync(copy, content);
      expect(computed(copy).whole[part]).to.not.deep.equal(declaredIn(copy)[part]);
    });
});

interface Computed extends Declared {
  readonly contents: Readonly<Record<string, string>>;
}

interface Declared {
  readonly digest: unknown;
  readonly organizations: readonly unknown[];
  readonly lists: readonly (readonly unknown[])[];
}

function declaredIn(file: string): Declared {
  const database = new Database(file, { readonly: true });
  const rows = (sql: string) => database.prepare<[], unknown[]>(sql).raw().all();
  const [[digest]] = rows('SELECT digest FROM snapshot');
  const organizations = rows('SELECT * FROM organizations ORDER BY 1');
  const lists = rows('SELECT * FROM lists ORDER BY 1, 2');
  database.close();
  return { digest, organizations, lists };
}
