import { closeSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import { expect } from 'chai';
import { ColumnText } from '../../src/snapshot/column-text.ts';
import type { Column } from '../../src/snapshot/column-text.ts';
import type { Table } from '../../src/snapshot/format.ts';
import { RefusedSnapshot } from '../../src/snapshot/refused-snapshot.ts';
import { StoredRows } from '../../src/snapshot/stored-rows.ts';
import { StoredValues } from '../../src/snapshot/stored-values.ts';
import { folderForEach } from '../temporary-folder.ts';
import { randomFrom } from './random.ts';

interface Row {
  readonly row: number;
  readonly number: bigint;
  readonly short: string;
  readonly long: string;
}

const TYPES = new Map([
  ['number', 'INTEGER'],
  ['short', 'TEXT'],
  ['long', 'TEXT'],
]);
const TABLE: Table = { name: 'rows', columns: [...TYPES.keys()], types: TYPES };
const NUMBERS = [0n, 1n, -1n, 127n, -128n, 32_767n, 8_388_607n, 2n ** 31n, -(2n ** 40n), 2n ** 47n].concat([
  1_767_225_600_000_000n,
  2n ** 53n - 1n,
  2n ** 53n,
  -(2n ** 53n) - 1n,
  2n ** 63n - 1n,
  -(2n ** 63n),
]);

/** What SQLite stores is the oracle: the pages are read apart from it. */
describe('rows read from the pages of a file', () => {
  const folder = folderForEach();

  for (const [seed, pageBytes, count] of [
    [1, 512, 900],
    [2, 1024, 2000],
    [3, 4096, 3000],
    [4, 16_384, 5000],
    [5, 65_536, 3000],
    [6, 512, 1],
    [7, 16_384, 0],
  ] as const) {
    it(`are those of SQLite, from any of them on: ${count} rows, pages of ${pageBytes} (seed ${seed})`, () => {
      const { below } = randomFrom(seed);
      const rows = Array.from({ length: count }, (_, row): Row => {
        const length = below(20) === 0 ? below(100_000) : below(1500);
        const text = '{"é":"𝕏"}'.repeat(Math.ceil(length / 14));
        return { row, number: NUMBERS[below(NUMBERS.length)], short: 'x'.repeat(below(70)), long: text };
      });
      const { path, root } = write(rows, pageBytes);
      expect(read(path, root, 0), `seed ${seed}`).to.deep.equal(rows);
      for (let i = 0; i < 30; i++) {
        const from = below(count + 1);
        expect(read(path, root, from, 5), `seed ${seed}, from ${from}`).to.deep.equal(
          rows.slice(from, from + 5),
        );
      }
    });
  }

  it('are refused, or other ones, when a byte is changed: never a fault, never a walk without end', () => {
    const seed = 8;
    const { below } = randomFrom(seed);
    const rows = Array.from({ length: 300 }, (_, row): Row => {
      return { row, number: BigInt(row), short: `s${row}`, long: 'y'.repeat(below(20) === 0 ? 3000 : 30) };
    });
    const { path, root } = write(rows, 512);
    const sound = readFileSync(path);
    let refused = 0;
    for (let i = 0; i < 3000; i++) {
      const at = below(sound.length);
      const changed = Buffer.from(sound);
      changed[at] ^= 1 + below(255);
      writeFileSync(path, changed);
      try {
        expect(read(path, root, below(300)).length, `seed ${seed}, byte ${at}`).to.be.at.most(3000);
      } catch (error) {
        if (!(error instanceof RefusedSnapshot))
          throw new Error(`seed ${seed}, byte ${at}`, { cause: error });
        refused++;
      }
    }
    expect(refused).to.be.greaterThan(50);
  }).timeout(60_000);

  it('are refused when a page leads to one that is none, or holds the schema', () => {
    const rows = Array.from({ length: 300 }, (_, row): Row => {
      return { row, number: 0n, short: '', long: 'y'.repeat(row === 0 ? 3000 : 30) };
    });
    const { path, root } = write(rows, 512);
    const sound = readFileSync(path);
    const rightmost = (root - 1) * 512 + 8;
    for (const page of [0, 1, 0x7fff_ffff, 0xffff_ffff]) {
      const changed = Buffer.from(sound);
      changed.writeUInt32BE(page, rightmost);
      writeFileSync(path, changed);
      expectDamaged(() => read(path, root, 0));
      expectDamaged(() => read(path, root, 299));
      writeFileSync(path, sound);
      expectDamaged(() => read(path, page, 0));
    }
    for (const root of [-1, 2.5, NaN, 2 ** 60]) expectDamaged(() => read(path, root, 0));
  });

  function expectDamaged(act: () => unknown): void {
    expect(act).to.throw(RefusedSnapshot).with.property('reason', 'damaged');
  }

  function write(rows: readonly Row[], pageBytes: number): { path: string; root: number } {
    const path = folder('rows.sqlite');
    rmSync(path, { force: true });
    const database = new Database(path);
    database.pragma(`page_size = ${pageBytes}`);
    database.exec(
      'CREATE TABLE other (a); CREATE TABLE rows (row INTEGER PRIMARY KEY, number INTEGER, short TEXT, long TEXT)',
    );
    const insert = database.prepare('INSERT INTO rows VALUES (:row, :number, :short, :long)');
    const between = database.prepare('INSERT INTO other VALUES (zeroblob(700))');
    database.transaction(() => {
      for (const row of rows) {
        insert.run(row);
        if (row.row % 7 === 0) between.run();
      }
    })();
    const root = database
      .prepare<[], number>("SELECT rootpage FROM sqlite_schema WHERE name = 'rows'")
      .pluck()
      .get();
    database.close();
    return { path, root: root ?? 0 };
  }

  function read(path: string, root: number, from: number, most = Infinity): Row[] {
    const descriptor = openSync(path, 'r');
    try {
      const header = readFileSync(path).subarray(0, 100);
      const pageBytes = header.readUInt16BE(16) === 1 ? 65_536 : header.readUInt16BE(16);
      const stored = new StoredRows({ descriptor, pageBytes, usableBytes: pageBytes - header[20] }, root);
      const values = new StoredValues(TABLE, 1);
      const found: Row[] = [];
      stored.seek(from);
      while (found.length < most && stored.next()) {
        // Damage may lead back to rows that were passed: the reader of tables expects each in its place, and so does this.
        if (stored.rowId < from + found.length) throw new RefusedSnapshot('damaged', 'rows out of order');
        values.take(stored, [0, 0, 0]);
        const [number, short, long] = values.columns().values();
        const [integer] = number.integers ?? expect.fail('a column of numbers has none');
        expect(textOf(number)).to.equal(String(integer));
        found.push({ row: stored.rowId, number: integer, short: textOf(short), long: textOf(long) });
        values.clear();
      }
      return found;
    } finally {
      closeSync(descriptor);
    }
  }
});

function textOf({ bytes }: Column): string {
  return Buffer.from(bytes).toString();
}

describe('the text of a column', () => {
  it('holds whole numbers as SQLite writes them', () => {
    const numbers = NUMBERS.filter((number) => Number.isSafeInteger(Number(number))).map(Number);
    const column = new ColumnText(numbers.length);
    for (const number of numbers) column.addNumber(number);
    const text = Buffer.from(column.column()?.bytes ?? []).toString('latin1');
    expect(text.split('\xff')).to.deep.equal(numbers.map(String));
  });

  it('is none when a text holds what stands between two of them', () => {
    const column = new ColumnText(2);
    column.addText(Buffer.of(0x41, 0xff, 0x42), 0, 3);
    column.addText(Buffer.from('a'), 0, 1);
    expect(column.column()).to.equal(undefined);
  });
});
