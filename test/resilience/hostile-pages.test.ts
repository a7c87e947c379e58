import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import { expect } from 'chai';
import { Random } from '../../scripts/sample/random.ts';
import { REFUSALS } from '../../src/snapshot/format/refused-snapshot.ts';
import { DatabasePages, setPageSize } from '../support/database-pages.ts';
import { byDepth } from '../support/depth.ts';
import { reseal } from '../support/digests.ts';
import { build, writeImport } from '../support/import-folder.ts';
import { SMALL_IMPORT } from '../support/small-import.ts';
import { folderForAll } from '../support/temporary-folder.ts';
import type { Outcome } from './load-each.ts';
import { LoaderProcess } from './loader-process.ts';

const SEED = 20_261_122;
const COPIES = byDepth({ short: 40, deep: 5000 });
/** Small pages give the small import trees of several levels, and overflow chains of hundreds of pages. */
const PAGE_SIZE = 512;
/** Ten times a load on a busy machine. The limit is against a standstill alone. */
const MAX_MS = 10_000;
/** Levels of links that multiply the rows beyond what can be read. */
const LEVELS = 6;
const NOWHERE = 0x7fff_fff0;
const HUGE_BYTES = 100_000_000;

type Craft = (pages: DatabasePages) => void;

/** Trees and chains that no writer makes. Their content, and so its digests, are unchanged where they can be read. */
const CRAFTED: Readonly<Record<string, Craft>> = {
  'a child that is its own parent': (pages) => {
    const root = interiorRoot(pages, 'runs');
    pages.setLastChild(root, root);
  },
  'a child beyond the end of the file': (pages) => {
    pages.setLastChild(interiorRoot(pages, 'runs'), NOWHERE);
  },
  'a child that is a page of another table': (pages) => {
    pages.setLastChild(interiorRoot(pages, 'runs'), pages.rootOf('organizations'));
  },
  'a child that is page 1': (pages) => {
    pages.setLastChild(interiorRoot(pages, 'runs'), 1);
  },
  ...Object.fromEntries(
    ['snapshot', 'organizations'].map((table): [string, Craft] => [
      `${table} with the same leaf millions of times`,
      (pages) => {
        linkLevels(pages, pages.rootOf(table), firstLeaf(pages, pages.rootOf(table)));
      },
    ]),
  ),
  'sqlite_schema with the same leaf millions of times': (pages) => {
    const levels = pages.append();
    linkLevels(pages, levels, firstLeaf(pages, 1));
    pages.setLastChild(1, levels);
  },
  'an overflow chain that begins anew': (pages) => {
    eachOverflowPage(pages, 'ticket_runs', (page, number) => page.writeUInt32BE(number));
  },
  'an overflow chain that leads to page 1': (pages) => {
    eachOverflowPage(pages, 'order_runs', (page) => page.writeUInt32BE(1));
  },
  'an overflow chain that leads out of the file': (pages) => {
    eachOverflowPage(pages, 'event_runs', (page) => page.writeUInt32BE(NOWHERE));
  },
  'an overflow chain that ends early': (pages) => {
    eachOverflowPage(pages, 'ticket_runs', (page) => page.writeUInt32BE(0));
  },
  'more cells than a page can hold': (pages) => {
    const leaf = firstLeaf(pages, pages.rootOf('ticket_runs'));
    pages.page(leaf).writeUInt16BE(0xffff, 3);
  },
  'no cells in a leaf': (pages) => {
    const leaf = firstLeaf(pages, pages.rootOf('ticket_runs'));
    pages.page(leaf).writeUInt16BE(0, 3);
  },
  'cells outside their page': (pages) => {
    const leaf = firstLeaf(pages, pages.rootOf('runs'));
    pages.page(leaf).writeUInt16BE(PAGE_SIZE - 1, 8);
  },
  'a payload of two gigabytes': (pages) => {
    const leaf = firstLeaf(pages, pages.rootOf('organizations'));
    const [cell] = pages.cellsOf(leaf);
    pages.page(leaf).set([0x87, 0xff, 0xff, 0xff, 0x7f], cell);
  },
  'reserved bytes that no page has': headerByte(20, 200),
  'reserved bytes that leave too little': headerByte(20, 40),
  'a page size of another value': headerByte(16, 4),
  'a page size of 0': (pages) => pages.page(1).writeUInt16BE(0, 16),
  'a page size of 3': (pages) => pages.page(1).writeUInt16BE(3, 16),
  'text in UTF-16': headerByte(59, 2),
  'text in an unknown encoding': headerByte(59, 77),
  'an unknown schema format': headerByte(47, 9),
  'an auto-vacuum mode, which its pages do not have': (pages) => pages.page(1).writeUInt32BE(5, 52),
};

/** Damage that no response depends on: free pages, and links that a search by key passes by. */
const HARMLESS: Readonly<Record<string, Craft>> = {
  'a run table with the same leaf millions of times': (pages) => {
    linkLevels(pages, pages.rootOf('event_runs'), firstLeaf(pages, pages.rootOf('event_runs')));
  },
  'a freelist that leads out of the file': (pages) => {
    pages.page(1).writeUInt32BE(NOWHERE, 32);
    pages.page(1).writeUInt32BE(0xffff_ffff, 36);
  },
  'a freelist that leads to a table': (pages) => {
    pages.page(1).writeUInt32BE(pages.rootOf('ticket_runs'), 32);
    pages.page(1).writeUInt32BE(1, 36);
  },
};

/** Other schemas. A statement runs with writable_schema where it must. */
const SCHEMAS: Readonly<Record<string, readonly string[]>> = {
  'statistics of ANALYZE': ['ANALYZE'],
  'a virtual table': ['CREATE VIRTUAL TABLE v USING fts5(a)'],
  'an index over an expression': ['CREATE INDEX i ON runs (length(digest))'],
  'a partial index': ['CREATE INDEX i ON runs (digest) WHERE first_row > 0'],
  'a generated column': ['ALTER TABLE organizations ADD COLUMN g TEXT AS (upper(name)) VIRTUAL'],
  'a trigger on a view': ['CREATE TRIGGER t INSTEAD OF INSERT ON events BEGIN SELECT 1; END'],
  'a table without rowid': schemaText('event_runs', ') STRICT', ') STRICT, WITHOUT ROWID'),
  'a table with a rowid': schemaText('runs', 'STRICT, WITHOUT ROWID', 'STRICT'),
  'another default': schemaText('organizations', 'TEXT NOT NULL', "TEXT NOT NULL DEFAULT 'x'"),
  'another collation': schemaText(
    'runs',
    'collection      TEXT    NOT NULL',
    'collection TEXT NOT NULL COLLATE NOCASE',
  ),
  'the root page of another table': [
    "UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 'order_runs') WHERE name = 'ticket_runs'",
  ],
  'a root page beyond the end': ["UPDATE sqlite_schema SET rootpage = 99999999 WHERE name = 'ticket_runs'"],
  'a statement that is not SQL': schemaText('organizations', 'CREATE TABLE', 'CREATE TABLE ('),
};

describe(`Pages of a hostile snapshot, read by the loader thread of another process (seed ${SEED}):`, function () {
  this.timeout(1_200_000);
  const inFolder = folderForAll();
  let process: LoaderProcess;

  before(async () => {
    writeImport(inFolder('import'), SMALL_IMPORT);
    await build(inFolder('import'), inFolder('sound.sqlite'));
    setPageSize(inFolder('sound.sqlite'), PAGE_SIZE);
    process = new LoaderProcess();
    expect(await process.load(inFolder('sound.sqlite'))).to.include({ isSame: true });
  });
  after(() => {
    process.end();
  });

  const copied = () => {
    copyFileSync(inFolder('sound.sqlite'), inFolder('hostile.sqlite'));
    return inFolder('hostile.sqlite');
  };
  const crafted = (craft: Craft) => {
    const pages = new DatabasePages(copied());
    craft(pages);
    pages.save();
    return process.load(inFolder('hostile.sqlite'));
  };

  describe('refuses', () => {
    for (const [what, craft] of Object.entries(CRAFTED)) {
      it(what, async () => {
        expectRefused(await crafted(craft), what);
      });
    }

    for (const [what, statements] of Object.entries(SCHEMAS)) {
      it(`a schema with ${what}`, async () => {
        const database = new Database(copied());
        database.unsafeMode();
        database.pragma('writable_schema = ON');
        for (const statement of statements) database.exec(statement);
        database.close();
        expectRefused(await process.load(inFolder('hostile.sqlite')), what);
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
        expect(await process.load(inFolder('hostile.sqlite'))).to.include({ isSame: true });
      });
    }
  });

  describe('refuses a run of 100 MB, in little memory, that is declared with', () => {
    for (const [what, declare] of Object.entries({
      'its length': (path: string) => {
        reseal(path);
      },
      'the length of the run that it replaces': () => {
        // The table "runs" stays as it is.
      },
    })) {
      it(what, async () => {
        const database = new Database(copied());
        database.exec(`UPDATE order_runs SET records = CAST(zeroblob(${HUGE_BYTES}) AS TEXT)`);
        database.close();
        declare(inFolder('hostile.sqlite'));
        const { peakBytes: before } = await process.load(inFolder('sound.sqlite'));
        const outcome = await process.load(inFolder('hostile.sqlite'));
        expectRefused(outcome, what);
        expect(outcome.detail).to.match(/^"runs" is out of bounds for orders|exceeds 16777216 bytes$/);
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
      const outcome = await process.load(inFolder('hostile.sqlite'));
      if (outcome.isSame === true) expect(outcome.ms).to.be.below(MAX_MS);
      else {
        expectRefused(outcome, `copy ${n}`);
        refused++;
      }
    }
    expect(refused)
      .to.be.greaterThan(COPIES / 4)
      .and.lessThan(COPIES);
    expect(await process.load(inFolder('sound.sqlite'))).to.include({ isSame: true });
  });
});

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
  const number = random.chance(0.3) ? random.between(1, Math.min(30, count)) : random.between(1, count);
  const page = file.subarray((number - 1) * PAGE_SIZE, number * PAGE_SIZE);
  const header = number === 1 ? 100 : 0;
  const link = random.pick([0, 1, number, random.between(1, count), count + 1, 0xffff_ffff]);
  switch (random.below(8)) {
    case 0: // the header of a tree page, or the first bytes of an overflow page
      page[header + random.below(12)] = random.below(256);
      break;
    case 1: // the place of a cell
      page.writeUInt16BE(random.below(PAGE_SIZE + 1), header + 8 + 2 * random.below(10));
      break;
    case 2: // the last child, the next overflow page
      page.writeUInt32BE(link, header + random.pick([0, 8]));
      break;
    case 3: // the start of a cell: a child, a length, a key
      page.writeUInt32BE(link, Math.min(page.readUInt16BE(header + 8 + 2 * random.below(4)), PAGE_SIZE - 4));
      break;
    case 4: {
      const other = random.below(count) * PAGE_SIZE;
      file.copy(page, 0, other, other + PAGE_SIZE);
      break;
    }
    case 5:
      page.fill(random.pick([0, 0xff]), header);
      break;
    case 6: // the header of the file, but its first 16 bytes
      file[random.between(16, 99)] = random.below(256);
      break;
    default:
      page[random.below(PAGE_SIZE)] = random.below(256);
  }
}

function headerByte(at: number, value: number): Craft {
  return (pages) => {
    pages.page(1)[at] = value;
  };
}

/** Returns statements that replace a text in the definition of a table. */
function schemaText(table: string, from: string, to: string): string[] {
  const quoted = [from, to].map((text) => `'${text.replaceAll("'", "''")}'`);
  return [`UPDATE sqlite_schema SET sql = replace(sql, ${quoted.join(', ')}) WHERE name = '${table}'`];
}

function interiorRoot(pages: DatabasePages, table: string): number {
  const root = pages.rootOf(table);
  if (!pages.isInterior(root)) throw new Error(`${table} has one page`);
  return root;
}

function firstLeaf(pages: DatabasePages, root: number): number {
  if (!pages.isInterior(root)) return root;
  const [cell] = pages.cellsOf(root);
  return firstLeaf(pages, pages.page(root).readUInt32BE(cell));
}

/** Makes a table of levels that each link the level below some sixty times; the lowest links `leaf`. */
function linkLevels(pages: DatabasePages, root: number, leaf: number): void {
  const copy = pages.append();
  pages.page(leaf).copy(pages.page(copy));
  let child = copy;
  for (let level = 1; level < LEVELS; level++) {
    const parent = pages.append();
    pages.linkManyTimes(parent, child);
    child = parent;
  }
  pages.linkManyTimes(root, child);
}

/** Changes the link at the start of the overflow pages of a table's first leaf. */
function eachOverflowPage(
  pages: DatabasePages,
  table: string,
  change: (page: Buffer, number: number) => void,
): void {
  const leaf = firstLeaf(pages, pages.rootOf(table));
  for (const cell of pages.cellsOf(leaf)) {
    const first = overflowOf(pages, leaf, cell);
    change(pages.page(first), first);
  }
}

/** Returns the first overflow page of a cell. Its number follows the part of the payload that is in the leaf. */
function overflowOf(pages: DatabasePages, leaf: number, cell: number): number {
  const page = pages.page(leaf);
  const ends = [...pages.cellsOf(leaf).filter((other) => other > cell), PAGE_SIZE];
  return page.readUInt32BE(Math.min(...ends) - 4);
}
