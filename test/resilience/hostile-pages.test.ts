import { type ChildProcess, fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { Random } from '../../scripts/sample/random.ts';
import { REFUSALS } from '../../src/snapshot/format/refused-snapshot.ts';
import { MANIFEST_TEXTS } from '../../src/snapshot/format/schema.ts';
import { INHERITED, ROOT } from '../support/command.ts';
import { change } from '../support/altered-snapshot.ts';
import { byDepth } from '../support/depth.ts';
import { reseal } from '../support/digests.ts';
import { buildFile, writeImport } from '../support/import-folder.ts';
import { recordsIn, times } from '../support/records.ts';
import { smallImport } from '../support/small-import.ts';
import { folderForAll } from '../support/temporary-folder.ts';
import { DatabasePages, PAGE_SIZE } from './database-pages.ts';
import type { Outcome } from './load-each.ts';

const SEED = 20_261_122;
const COPIES = byDepth({ short: 40, deep: 5000 });
/** Ten times a load on a busy machine. The limit is against a standstill alone. */
const MAX_MS = 10_000;
/** Levels of links that multiply the rows beyond what can be read. */
const LEVELS = 6;
/** The same for an index, whose root has about ten children. */
const INDEX_LEVELS = 9;
/** Likewise for a command. */
const COMMAND_MS = 60_000;
const NOWHERE = 0x7fff_fff0;
const HUGE_BYTES = 100_000_000;

type Craft = (pages: DatabasePages) => void;

/** Sets the last child of a table's root. */
const lastChild =
  (table: string, childOf: (pages: DatabasePages, root: number) => number): Craft =>
  (pages) => {
    const root = pages.rootOf(table);
    pages.setLastChild(root, childOf(pages, root));
  };

/** Makes levels that each link the level below some sixty times; the lowest links a leaf. Returns the highest level. */
function linkLevels(pages: DatabasePages, leaf: number, root = pages.append()): number {
  let child = pages.append();
  pages.page(leaf).copy(pages.page(child));
  for (let level = 1; level < LEVELS; level++) {
    const parent = pages.append();
    pages.linkManyTimes(parent, child);
    child = parent;
  }
  pages.linkManyTimes(root, child);
  return root;
}

const manyLeaves =
  (table: string): Craft =>
  (pages) => {
    const root = pages.rootOf(table);
    linkLevels(pages, pages.firstLeaf(root), root);
  };

/** Likewise before the last rows of a table, so that its first and last row are unchanged. */
const manyLeavesWithin =
  (table: string): Craft =>
  (pages) => {
    const root = pages.rootOf(table);
    const last = pages.lastChildOf(root);
    manyLeaves(table)(pages);
    pages.setLastChild(root, last);
  };

/** Makes the index of the ids of tickets link one leaf hundreds of millions of times. */
const manyIndexLeaves: Craft = (pages) => {
  const root = pages.rootOf('ticket_ids');
  let child = pages.firstLeaf(root);
  for (let level = 1; level < INDEX_LEVELS; level++) {
    const parent = pages.append();
    pages.page(root).copy(pages.page(parent));
    pages.linkAll(parent, child);
    child = parent;
  }
  pages.linkAll(root, child);
};

/** Sets the link at the start of the first overflow page of each cell of a table's first leaf. */
const overflow =
  (table: string, linkFrom: (page: number) => number): Craft =>
  (pages) => {
    const leaf = pages.firstLeaf(pages.rootOf(table));
    const cells = pages.cellsOf(leaf);
    for (const cell of cells) {
      // The number of the page follows the part of the payload that is in the leaf.
      const end = Math.min(...cells.filter((other) => other > cell), PAGE_SIZE);
      const first = pages.page(leaf).readUInt32BE(end - 4);
      pages.page(first).writeUInt32BE(linkFrom(first));
    }
  };

/** Sets two bytes of a table's first leaf. */
const inLeaf =
  (table: string, at: number, value: number): Craft =>
  (pages) =>
    pages.page(pages.firstLeaf(pages.rootOf(table))).writeUInt16BE(value, at);

/** Sets a number of one, two or four bytes in the header of the file. */
const inHeader =
  (at: number, value: number, length = 1): Craft =>
  (pages) =>
    pages.page(1).writeUIntBE(value, at, length);

/** Last children that no tree has. */
const CHILDREN: Readonly<Record<string, Parameters<typeof lastChild>[1]>> = {
  'its own parent': (_, root) => root,
  'beyond the end of the file': () => NOWHERE,
  'a page of another table': (pages) => pages.rootOf('organizations'),
  'page 1': () => 1,
};

/** Trees and chains that no writer makes. Their content, and so its digests, are unchanged where they can be read. */
const CRAFTED: Readonly<Record<string, Craft>> = {
  'snapshot with the same leaf millions of times': manyLeaves('snapshot'),
  'organizations with the same leaf millions of times': manyLeaves('organizations'),
  'tickets with the same leaf millions of times': manyLeavesWithin('tickets'),
  'sqlite_schema with the same leaf millions of times': (pages) => {
    pages.setLastChild(1, linkLevels(pages, pages.firstLeaf(1)));
  },
  'an overflow chain that is a circle': overflow('orders', (page) => page),
  'an overflow chain that leads to page 1': overflow('orders', () => 1),
  'an overflow chain that leads out of the file': overflow('orders', () => NOWHERE),
  'an overflow chain that ends early': overflow('orders', () => 0),
  'more cells than a page can hold': inLeaf('tickets', 3, 0xffff),
  'no cells in a leaf': inLeaf('tickets', 3, 0),
  'cells outside their page': inLeaf('lists', 8, PAGE_SIZE - 1),
  'a payload of two gigabytes': (pages) => {
    const leaf = pages.firstLeaf(pages.rootOf('organizations'));
    const [cell] = pages.cellsOf(leaf);
    pages.page(leaf).set([0x87, 0xff, 0xff, 0xff, 0x7f], cell);
  },
  'reserved bytes that no page has': inHeader(20, 200),
  'reserved bytes that leave too little': inHeader(20, 40),
  'a page size of another value': inHeader(16, 4),
  'a page size of 0': inHeader(16, 0, 2),
  'a page size of 3': inHeader(16, 3, 2),
  'text in UTF-16': inHeader(59, 2),
  'text in an unknown encoding': inHeader(59, 77),
  'an unknown schema format': inHeader(47, 9),
  'an auto-vacuum mode, which its pages do not have': inHeader(52, 5, 4),
};

/** Damage that no response depends on: free pages, and indexes that only other programs read. */
const HARMLESS: Readonly<Record<string, Craft>> = {
  'ids with the same leaf millions of times': manyIndexLeaves,
  'an index of ids without a tree': (pages) => pages.page(pages.rootOf('ticket_ids')).fill(0),
  'a freelist that leads out of the file': (pages) => {
    inHeader(32, NOWHERE, 4)(pages);
    inHeader(36, 0xffff_ffff, 4)(pages);
  },
  'a freelist that leads to a table': (pages) => {
    inHeader(32, pages.rootOf('tickets'), 4)(pages);
    inHeader(36, 1, 4)(pages);
  },
};

const rootPage = (value: string) => `UPDATE sqlite_schema SET rootpage = ${value} WHERE name = 'tickets'`;

/** Schemas that only an edit of the schema table makes. */
const SCHEMAS: Readonly<Record<string, string>> = {
  'statistics of ANALYZE': 'ANALYZE',
  'a statement that is not SQL':
    "UPDATE sqlite_schema SET sql = replace(sql, 'CREATE TABLE', 'CREATE TABLE (')",
  'the root page of another table': rootPage("(SELECT rootpage FROM sqlite_schema WHERE name = 'orders')"),
  'a root page beyond the end': rootPage('99999999'),
};

describe(`Pages of a hostile snapshot, read by the loader thread of another process (seed ${SEED}):`, function () {
  this.timeout(1_200_000);
  const inFolder = folderForAll();
  let loader: ChildProcess;
  let ended: Promise<unknown[]>;

  before(async () => {
    await buildFile(smallImport(['east', 'north', 'south']), inFolder('sound.sqlite'));
    setPageSize(inFolder('sound.sqlite'), PAGE_SIZE);
    loader = fork(join(ROOT, 'test/resilience/load-each.ts'), { env: INHERITED });
    ended = once(loader, 'exit');
    expect(await load('sound')).to.include({ isSame: true });
  });
  after(() => loader.kill('SIGKILL'));

  async function load(name: 'sound' | 'hostile'): Promise<Outcome> {
    loader.send(inFolder(`${name}.sqlite`));
    const [outcome] = await Promise.race([once(loader, 'message'), ended]);
    if (typeof outcome !== 'object' || outcome === null) throw new Error('the process ended');
    return outcome as Outcome;
  }

  const copied = () => {
    copyFileSync(inFolder('sound.sqlite'), inFolder('hostile.sqlite'));
    return inFolder('hostile.sqlite');
  };
  const craftIn = (path: string, craft: Craft) => {
    const pages = new DatabasePages(path);
    craft(pages);
    pages.save();
  };
  const crafted = (craft: Craft) => {
    craftIn(copied(), craft);
    return load('hostile');
  };

  describe('refuses', () => {
    for (const [what, craft] of Object.entries(CRAFTED)) {
      it(what, async () => {
        expectRefused(await crafted(craft), what);
      });
    }

    it('tickets of other organizations with the same leaf millions of times', async () => {
      change(copied(), ["UPDATE tickets SET organization_id = organization_id || 'x'"]);
      craftIn(inFolder('hostile.sqlite'), manyLeavesWithin('tickets'));
      expectRefused(await load('hostile'), 'others');
    });

    for (const table of ['lists', 'tickets'])
      for (const [what, childOf] of Object.entries(CHILDREN)) {
        it(`a child in the tree of ${table} that is ${what}`, async () => {
          expectRefused(await crafted(lastChild(table, childOf)), what);
        });
      }

    for (const [what, statement] of Object.entries(SCHEMAS)) {
      it(`a schema with ${what}`, async () => {
        change(copied(), [`PRAGMA writable_schema = ON; ${statement}`]);
        expectRefused(await load('hostile'), what);
      });
    }
  });

  describe('serves the same content with', () => {
    for (const [what, craft] of Object.entries(HARMLESS)) {
      it(what, async () => {
        expect(await crafted(craft)).to.include({ isSame: true });
      });
    }

    for (const pageSize of [1024, 4096, 65_536]) {
      it(`pages of ${pageSize} bytes`, async () => {
        setPageSize(copied(), pageSize);
        expect(await load('hostile')).to.include({ isSame: true });
      });
    }
  });

  describe('does not keep busy', () => {
    const { ticket } = recordsIn('north');

    before(() => {
      writeImport(inFolder('import'), { tickets: times(60, (i) => ticket(`tkt_${i}`)) });
    });

    const build = '--input import --output next.sqlite --as-of 2026-11-22T00:00:00Z --allow-future --base';
    for (const command of ['verify', 'inspect', 'diff sound.sqlite', `build ${build}`]) {
      for (const [tree, craft, isRefused] of [
        ['tickets', manyLeavesWithin('tickets'), true],
        ['their ids', manyIndexLeaves, command.startsWith('build')],
      ] as const) {
        it(`the command ${command.split(' ')[0]}, with many links to the same leaf in ${tree}`, () => {
          change(copied(), ['UPDATE tickets SET updated_at = updated_at + 1 WHERE row = 1']);
          reseal(inFolder('hostile.sqlite'));
          craftIn(inFolder('hostile.sqlite'), craft);
          const { status, stderr } = spawnSync(
            process.execPath,
            [join(ROOT, 'scripts/snapshot.ts'), ...command.split(' '), 'hostile.sqlite'],
            { cwd: inFolder('.'), env: INHERITED, encoding: 'utf8', timeout: COMMAND_MS },
          );
          expect(status, stderr).to.equal(isRefused ? 1 : 0);
          if (isRefused) expect(stderr).to.match(/hostile\.sqlite: /);
        });
      }
    }
  });

  const huge = `replace(hex(zeroblob(${HUGE_BYTES / 2})), '0', 'x')`;

  describe('refuses a row of 100 MB, in little memory,', () => {
    for (const [column, isDeclared] of [
      ['record', true],
      ['record', false],
      ['event_ids', false],
      ['order_id', false],
      ['organization_id', false],
    ] as const)
      it(`by its ${column}, which ${isDeclared ? 'is' : 'is not'} declared`, async () => {
        change(copied(), [`UPDATE orders SET ${column} = ${huge} WHERE row = 1`]);
        if (isDeclared) reseal(inFolder('hostile.sqlite'));
        const { peakBytes: before } = await load('sound');
        const outcome = await load('hostile');
        expectRefused(outcome, column);
        expect(outcome.detail).to.match(
          isDeclared ? /^"lists" is out of bounds for orders/ : /^orders has 8 of the 9 rows/,
        );
        expect(outcome.peakBytes - before).to.be.below(HUGE_BYTES / 2);
      });
  });

  describe('refuses a text of 100 MB, in little memory, in', () => {
    const rows =
      "INSERT INTO ancestors VALUES ('a', ''); INSERT INTO deletions VALUES ('north', 'tickets', 'a', 0)";
    const texts = MANIFEST_TEXTS.flatMap(({ table, limits }) => limits.map(([column]) => [table, column]));
    for (const [table, column] of [...texts, ['sqlite_schema', 'sql'], ['sqlite_schema', 'name']]) {
      it(`${column} of ${table}`, async () => {
        const changed =
          table === 'sqlite_schema'
            ? `PRAGMA writable_schema = ON; UPDATE sqlite_schema SET ${column} = ${column} || ' -- ' || ${huge} WHERE name = 'lists'`
            : `UPDATE ${table} SET ${column} = ${huge} WHERE ${column} = (SELECT min(${column}) FROM ${table})`;
        change(copied(), [rows, changed]);
        const { peakBytes: before } = await load('sound');
        const outcome = await load('hostile');
        expectRefused(outcome, column);
        expect(outcome.detail?.length).to.be.below(300);
        expect(outcome.peakBytes - before).to.be.below(HUGE_BYTES / 2);
      });
    }
  });

  it(`refuses ${COPIES} copies with changed pages, or serves the same content`, async () => {
    const bytes = readFileSync(inFolder('sound.sqlite'));
    let refused = 0;
    for (let n = 0; n < COPIES; n++) {
      const random = new Random(SEED + n);
      const copy = Buffer.from(bytes);
      for (let left = random.between(1, 3); left > 0; left--) changePage(random, copy);
      writeFileSync(inFolder('hostile.sqlite'), copy);
      const outcome = await load('hostile');
      if (outcome.isSame === true) expect(outcome.ms).to.be.below(MAX_MS);
      else {
        expectRefused(outcome, `copy ${n}`);
        refused++;
      }
    }
    expect(refused)
      .to.be.greaterThan(COPIES / 4)
      .and.lessThan(COPIES);
    expect(await load('sound')).to.include({ isSame: true });
  });
});

function setPageSize(path: string, pageSize: number): void {
  change(path, [`PRAGMA page_size = ${pageSize}; VACUUM`]);
}

function expectRefused(outcome: Outcome, what: string): void {
  const shown = `${what}: ${JSON.stringify(outcome)}`;
  expect(REFUSALS, shown).to.have.property(outcome.reason ?? '');
  expect(outcome.reason, shown).not.to.be.oneOf(['loader-failed', 'timeout']);
  expect(outcome.detail, shown).not.to.equal('');
  expect(outcome.ms, shown).to.be.below(MAX_MS);
}

/** Changes a random page in a way that its structure is sensitive to. */
function changePage(random: Random, file: Buffer): void {
  const count = file.length / PAGE_SIZE;
  const number = random.between(1, random.chance(0.3) ? Math.min(30, count) : count);
  const page = file.subarray((number - 1) * PAGE_SIZE, number * PAGE_SIZE);
  // On page 1, the header of the page follows that of the file, whose first 16 bytes are constant.
  const header = number === 1 ? 100 : 0;
  const pointer = header + 8 + 2 * random.below(10);
  if (random.chance(0.2)) {
    const other = random.below(count) * PAGE_SIZE;
    const content = random.pick([file.subarray(other, other + PAGE_SIZE), Buffer.alloc(PAGE_SIZE, 0xff)]);
    content.copy(page, header, header);
    return;
  }
  const at = random.pick([
    header + random.below(12),
    header + 8, // the last child
    pointer, // the place of a cell
    page.readUInt16BE(pointer), // the start of a cell: a child, a length, a key
    random.between(16, PAGE_SIZE),
  ]);
  const link = random.pick([0, 1, number, random.between(1, count), count + 1, 0xffff_ffff]);
  if (random.chance(0.5)) page.writeUInt32BE(link, Math.min(at, PAGE_SIZE - 4));
  else page[Math.min(at, PAGE_SIZE - 1)] = random.below(256);
}
