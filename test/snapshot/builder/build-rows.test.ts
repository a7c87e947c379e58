import { copyFileSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import { expect } from 'chai';
import fc from 'fast-check';
import type { BuildProgress } from '../../../src/snapshot/builder/staging/read-import.ts';
import { sortKey } from '../../../src/snapshot/builder/staging/staging-file.ts';
import { type CollectionLayout, OFFERS, ORDERS, TICKETS } from '../../../src/snapshot/format/layout.ts';
import { RefusedSnapshot } from '../../../src/snapshot/format/refused-snapshot.ts';
import { change } from '../../support/altered-snapshot.ts';
import { type Built, type ImportRecord, PRODUCED_AT } from '../../support/import-folder.ts';
import { recordsIn, times } from '../../support/records.ts';
import { refusalOf } from '../../support/refusal.ts';
import { expectSameRows } from '../../support/stored-rows.ts';
import { Builds } from '../builds.ts';

const LATER = new Date(PRODUCED_AT.getTime() + 1);

/** A ticket, an order and an offer with one id. */
interface Trio {
  readonly owner: string;
  readonly id: string;
  /** Decides on the positions. */
  readonly day: number;
  readonly text?: string;
}
type Change = Trio | Omit<Trio, 'day' | 'text'>;

const trio = (owner: string, id: string, day: number, text = ''): Trio => ({ owner, id, day, text });
const gone = (owner: string, id: string): Change => ({ owner, id });
const isTrio = (change: Change): change is Trio => 'day' in change;
const keyOf = ({ owner, id }: Change) => `${owner} ${id}`;

/** Organizations in byte order. That of `e` has no records. */
const OWNERS = ['B', 'b', 'd', 'e', 'f'];
/** `r00` to `r11`, of which two have each day. */
const BASE = ['B', 'b', 'd', 'f'].flatMap((owner) =>
  times(12, (i) => trio(owner, `r${String(i).padStart(2, '0')}`, Math.floor(i / 2))),
);

/** Returns the import of records, in reverse order. */
function importOf(trios: readonly Trio[]) {
  const lines = (make: (records: ReturnType<typeof recordsIn>, one: Trio, at: string) => ImportRecord) =>
    trios
      .map((one) => make(recordsIn(one.owner), one, new Date(one.day * 86_400_000).toISOString()))
      .reverse();
  return {
    tickets: lines(({ ticket }, { id, text }, at) => ticket(id, { issuedAt: at, status: text })),
    orders: lines(({ order }, { id, text }, at) => order(id, { createdAt: at, paymentMethod: text })),
    offers: lines(({ offer }, { id, text }, at) => offer(id, 'PRODUCT', { createdAt: at, name: text })),
  };
}

const MERGED = [TICKETS, ORDERS, OFFERS];

/** Returns organization, id and time of the last change of each record of a collection, in the order of the rows. */
function rowsIn(file: string, { name, idColumn }: CollectionLayout): unknown[] {
  const database = new Database(file, { readonly: true });
  const rows = database
    .prepare(`SELECT organization_id, ${idColumn}, changed_at FROM ${name} ORDER BY row`)
    .raw()
    .all();
  database.close();
  return rows;
}

/** Returns the rows that `rowsIn` is to find. */
function expectedRows(
  { orderedBy }: CollectionLayout,
  trios: readonly Trio[],
  earlier: readonly Trio[],
): unknown[] {
  const days = orderedBy.descending ? -1 : 1;
  const compare = (a: string, b: string) => (a < b ? -1 : Number(a > b));
  const known = new Set(earlier.map((one) => JSON.stringify(one)));
  return [...trios]
    .sort((a, b) => compare(a.owner, b.owner) || days * (a.day - b.day) || compare(a.id, b.id))
    .map((one) => {
      const changed = known.has(JSON.stringify(one)) ? PRODUCED_AT : LATER;
      return [one.owner, one.id, changed.getTime() * 1000];
    });
}

/** What besides records an import says of organizations. */
interface Owners {
  readonly added?: readonly string[];
  readonly removed?: readonly string[];
  readonly complete?: readonly string[];
  readonly held?: readonly string[];
}

describe('The rows of a build with a base', () => {
  const { build, errorOf, inFolder } = new Builds();
  let base: Built;

  before(async () => {
    base = await build({
      organizations: OWNERS.map((organizationId) => ({ organizationId })),
      ...importOf(BASE),
    });
  });

  /** Expects the rows of builds with the base, and of one of all records, to be the same, in list order. */
  async function expectRows(changes: readonly Change[], of: Owners = {}): Promise<void> {
    const { added = [], removed = [], complete = [], held = [] } = of;
    const staying = BASE.filter(({ owner }) => !removed.includes(owner) && !complete.includes(owner));
    const records = new Map([...staying].map((one) => [keyOf(one), one]));
    for (const change of changes.filter(({ owner }) => !held.includes(owner))) {
      if (isTrio(change)) records.set(keyOf(change), change);
      else records.delete(keyOf(change));
    }
    const all = [...records.values()];
    const faults = held.map((owner) => recordsIn(owner).ticket('bad', { qrCode: 5 }));
    const options = { producedAt: LATER, allowShrink: true, holdBack: inFolder('held') };
    const whole = importOf(all);
    const organizations = [...OWNERS, ...added].filter((owner) => !removed.includes(owner));
    const full = await build(
      {
        ...whole,
        organizations: organizations.map((organizationId) => ({ organizationId })),
        tickets: [...whole.tickets, ...faults],
      },
      { ...options, previous: base.file },
    );
    const changed = importOf(changes.filter(isTrio));
    const incremental = await build(
      {
        ...changed,
        organizations: [
          ...added.map((organizationId) => ({ organizationId })),
          ...complete.map((organizationId) => ({ organizationId, complete: true })),
        ],
        tickets: [...changed.tickets, ...faults],
        deletions: [
          ...removed.map((id) => ({ collection: 'organizations', id })),
          ...changes
            .filter((change) => !isTrio(change))
            .flatMap(({ owner, id }) =>
              MERGED.map(({ name }) => ({ organizationId: owner, collection: name, id })),
            ),
        ],
      },
      { ...options, base: base.file },
    );
    for (const layout of MERGED) {
      const expected = expectedRows(layout, all, BASE);
      expect(rowsIn(incremental.file, layout), layout.name).to.deep.equal(expected);
      expect(rowsIn(full.file, layout), layout.name).to.deep.equal(expected);
    }
    expectSameRows(incremental.file, full.file);
  }

  const many = (owner: string, day: number) => times(30, (i) => trio(owner, `new ${day} ${i}`, day));
  for (const [what, changes, owners] of [
    ['without a change', []],
    ['with the same lines again', BASE.slice(14, 20)],
    ['with records before all others', [trio('b', 'new', 9), trio('b', 'r', 5)]],
    ['with records after all others', [trio('b', 'new', -1), trio('b', 'r01a', 0)]],
    ['with records of the instants of others', ['q', 'r03', 'r04a', 's'].map((id) => trio('b', id, 2))],
    ['with records between two others', [...many('b', 2.5), ...many('b', 3.5)]],
    [
      'with records that are replaced',
      [trio('b', 'r00', 0, 'a'), trio('b', 'r05', 2, 'b'), trio('b', 'r11', 5, 'c')],
    ],
    [
      'with records that swap places',
      [trio('b', 'r04', 3), trio('b', 'r06', 2), trio('b', 'r00', 5), trio('b', 'r11', 0)],
    ],
    [
      'with records that move by little',
      [trio('b', 'r04', 2.5), trio('b', 'r07', 2.75), trio('b', 'r08', 4.5)],
    ],
    ['without the first, some, and the last record', ['r00', 'r05', 'r06', 'r11'].map((id) => gone('b', id))],
    [
      'with others in the place of deleted records',
      [gone('b', 'r04'), trio('b', 'r04a', 2), gone('b', 'r11'), trio('b', 'r12', 5)],
    ],
    ['with a record whose line comes with its deletion', [gone('b', 'r04'), trio('b', 'r04', 4)]],
    ['without any record', BASE.map(({ owner, id }) => gone(owner, id))],
    [
      'with other records alone',
      ['B', 'b', 'd', 'e', 'f'].flatMap((owner) => [
        ...BASE.map(({ id }) => gone(owner, id)),
        ...many(owner, 2),
      ]),
    ],
    [
      'with changes of every organization',
      OWNERS.flatMap((owner) => [trio(owner, 'new', 2), trio(owner, 'r05', 4), gone(owner, 'r06')]),
    ],
    ['with records of an organization that had none', [trio('e', 'r03', 1), trio('e', 'r04', 2)]],
    [
      'with new organizations',
      ['A', 'a', 'c', 'g'].flatMap((owner) => many(owner, 1)),
      { added: ['A', 'a', 'c', 'g'] },
    ],
    ['without some organizations', [trio('f', 'r03', 4)], { removed: ['B', 'd'] }],
    [
      'with complete organizations',
      [trio('b', 'r03', 4), trio('b', 'r06', 3), trio('d', 'new', 3)],
      { complete: ['b'] },
    ],
    [
      'with complete organizations only',
      ['B', 'e', 'f'].flatMap((owner) => many(owner, 2)),
      { complete: OWNERS },
    ],
    [
      'with organizations that are held back',
      ['B', 'b', 'f'].flatMap((owner) => [trio(owner, 'r05', 4), gone(owner, 'r06')]),
      { held: ['B', 'f'] },
    ],
    [
      'with organizations of each kind',
      ['B', 'a', 'b', 'd', 'e', 'f'].flatMap((owner) => many(owner, 3)),
      { added: ['a'], complete: ['b', 'e'], held: ['B'] },
    ],
  ] satisfies [string, Change[], Owners?][])
    it(`are those of a build of all records, ${what}`, () => expectRows(changes, owners));

  it('are those of a build of all records, with changes beside many thousand records', async () => {
    const { ticket } = recordsIn('b');
    const at = (i: number) => new Date(-i * 60_000).toISOString();
    const tickets = times(10_500, (i) => ticket(`t${i}`, { issuedAt: at(i) }));
    const organizations = [{ organizationId: 'b' }];
    const { file } = await build({ organizations, tickets });
    // The builder copies 10,000 rows at once.
    const rows = [0, 1, 9_998, 9_999, 10_000, 10_001, 10_499];
    const moved = rows.map((i) => ticket(`t${i}`, { issuedAt: at((i + 5_000) % 10_500) }));
    const added = rows.map((i) => ticket(`u${i}`, { issuedAt: at(i) }));
    const deleted = rows.map((i) => `t${(i + 9_990) % 10_500}`);
    const isLeft = ({ ticketId }: ImportRecord) =>
      !deleted.includes(String(ticketId)) && !moved.some((one) => one['ticketId'] === ticketId);
    const options = { producedAt: LATER };
    const all = [...tickets.filter(isLeft), ...moved, ...added];
    const full = await build({ organizations, tickets: all }, { ...options, previous: file });
    const deletions = deleted.map((id) => ({ collection: 'tickets', id }));
    const changed = await build({ tickets: [...moved, ...added], deletions }, { ...options, base: file });
    expectSameRows(changed.file, full.file);
  });

  describe('are not written if the base is damaged:', () => {
    const [first, second] = BASE;
    const changed = importOf([{ ...first, text: 'new' }]);
    const deletions = MERGED.map(({ name }) => ({ collection: name, id: first.id }));
    const text = `record = replace(record, '"currency":"JPY"', '"currency":"EUR"')`;
    const INDEX = 'CREATE UNIQUE INDEX order_ids ON orders (organization_id, order_id)';
    /** SQL that replaces an index of ids by one over other columns or rows, under the declaration of the schema. */
    const index = (on: string) =>
      `DROP INDEX order_ids; CREATE INDEX order_ids ON orders ${on}; PRAGMA writable_schema = 1;
       UPDATE sqlite_schema SET sql = '${INDEX}' WHERE name = 'order_ids'`;
    const lacking = index(`(organization_id, order_id) WHERE order_id <> '${first.id}'`);
    const swapped = index(
      `(organization_id, iif(order_id = '${first.id}', '${second.id}', iif(order_id = '${second.id}', '${first.id}', order_id)))`,
    );
    for (const [what, statement, reason, files] of [
      ['a record that stays', `UPDATE tickets SET ${text} WHERE row = 7`, 'damaged', {}],
      ['a record that is replaced', `UPDATE tickets SET ${text} WHERE row = 11`, 'damaged', changed],
      ['a record that is deleted', `UPDATE tickets SET ${text} WHERE row = 11`, 'damaged', { deletions }],
      [
        'a record beside a new one',
        `UPDATE offers SET record = 'x'`,
        'inconsistent',
        importOf([trio('b', 'new', 2)]),
      ],
      ['a text', `UPDATE tickets SET qr_code = 'x' WHERE row = 7`, 'damaged', {}],
      ['a list', `UPDATE offers SET event_ids = '[' WHERE row = 7`, 'damaged', {}],
      ['an id', `UPDATE orders SET order_id = 'x' WHERE row = 7`, 'inconsistent', {}],
      ['an organization', `UPDATE orders SET organization_id = 'c' WHERE row = 7`, 'damaged', {}],
      ['a time of change', 'UPDATE orders SET changed_at = changed_at + 1 WHERE row = 7', 'inconsistent', {}],
      ['a missing row', 'DELETE FROM orders WHERE row = 7', 'damaged', {}],
      ['an index that lacks a record that is replaced', lacking, 'damaged', changed],
      ['an index that lacks a record that is deleted', lacking, 'damaged', { deletions }],
      ['an index with other records, one of which is replaced', swapped, 'damaged', changed],
      ['an index with other records, one of which is deleted', swapped, 'damaged', { deletions }],
    ] as const)
      it(what, async () => {
        const path = inFolder('damaged.sqlite');
        copyFileSync(base.file, path);
        change(path, [statement]);
        const options = { base: path, producedAt: LATER };
        const error = await errorOf(RefusedSnapshot, { organizations: [], ...files }, options);
        expect(error.reason, error.message).to.equal(reason);
      });

    for (const [what, text] of [
      ['a page of records', '"orderId":"r11"'],
      ['a page of an index', 'r11'],
    ] as const)
      it(what, async () => {
        const bytes = readFileSync(base.file);
        const at = bytes.lastIndexOf(text);
        const pageBytes = bytes.readUInt16BE(16);
        bytes.fill(0, at - (at % pageBytes), at - (at % pageBytes) + pageBytes);
        writeFileSync(inFolder('damaged.sqlite'), bytes);
        const options = { base: inFolder('damaged.sqlite'), producedAt: LATER };
        const { reason } = await errorOf(RefusedSnapshot, { organizations: [], deletions }, options);
        expect(reason).to.equal('damaged');
      });
  });

  for (const [what, replace] of [
    ['replaced', renameSync],
    [
      'removed',
      (_: string, path: string) => {
        rmSync(path);
      },
    ],
  ] as const)
    it(`are not written if the base is ${what} while the import is read`, async () => {
      const path = inFolder('replaced.sqlite');
      copyFileSync(base.file, path);
      const { file: other } = await build({ organizations: [{ organizationId: 'b' }] });
      const listed = () => readdirSync(inFolder(''), { recursive: true, encoding: 'utf8' });
      let files: string[] = [];
      const onProgress = ({ step, list }: BuildProgress) => {
        if (step !== 'read' || list !== 'tickets') return;
        replace(other, path);
        files = listed().filter((name) => !name.includes('.building-'));
      };
      const options = { base: path, producedAt: LATER, onProgress };
      const error = await refusalOf(build(importOf(BASE.slice(0, 1)), options), RefusedSnapshot);
      expect(error.reason).to.equal('unfinished');
      expect(listed()).to.deep.equal(files);
    });
});

describe('The sort key of an id', () => {
  it('sorts by bytes as the id does by UTF-16 code units, and is distinct', () => {
    const ids = fc.string({
      unit: fc.oneof(
        fc.constantFrom('a', '\0', '\ud7ff', '\ue000', '\uf8ff', '\uffff', '\u{10000}', '\u{10ffff}'),
        fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
      ),
      maxLength: 4,
    });
    fc.assert(
      fc.property(ids, ids, (a, b) => {
        const order = a === b ? 0 : a < b ? -1 : 1;
        expect(Buffer.compare(sortKey(a), sortKey(b))).to.equal(order);
      }),
      { seed: 20261121, numRuns: 500 },
    );
  });
});
