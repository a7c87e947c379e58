import { execFileSync } from 'node:child_process';
import Database from 'better-sqlite3';
import { expect } from 'chai';
import { memoryNeed } from '../../src/snapshot/admission/memory.ts';
import { COLLECTIONS } from '../../src/snapshot/format/layout.ts';
import { inspectSnapshot } from '../../src/snapshot/format/open-snapshot.ts';
import { MEGABYTE } from '../../src/store/memory/shared-arrays.ts';
import { alteredCopy, change } from '../support/altered-snapshot.ts';
import { INHERITED } from '../support/command.ts';
import { byDepth } from '../support/depth.ts';
import { restamp } from '../support/digests.ts';
import { buildFile } from '../support/import-folder.ts';
import { times } from '../support/records.ts';
import { smallImport } from '../support/small-import.ts';
import { folderForAll } from '../support/temporary-folder.ts';

/** Each has at least four records in every collection. */
const ORGANIZATIONS = times(3, (i) => `o${i}`);
/** The distance of the tried cases among all. It has no common divisor with their numbers. */
const STEP = byDepth({ short: 29, deep: 1 });
const LOAD = new URL('../support/measured-load.ts', import.meta.url).pathname;
const OPTIONS = { env: INHERITED, encoding: 'utf8' } as const;

/** The bytes of a value, and the number of rows that have one. The longest row is just below its limit. */
const SIZES = [
  { bytes: 4_140_000, rows: 12 },
  { bytes: 100_000, rows: 180 },
];
/** The same for ids. With an escape of six bytes for each character, a record is just below its limit. */
const ID_SIZES = [{ bytes: 170_000, rows: 12 }];

/** Makes the value of a row. */
type Craft = (bytes: number, row: number) => string;

const longText = (bytes: number, row: number) => `${row} ${'x'.repeat(bytes - 10)}`;
/** JSON escapes each of its characters with six bytes. */
const controls = (bytes: number, row: number) => `${row} ${'\u0001'.repeat(bytes - 10)}`;
const listOf = (bytes: number, element: string) =>
  `[${`${element},`.repeat(bytes / (element.length + 1))}${element}]`;

/** Texts that a hostile writer could make. */
const TEXTS: Readonly<Record<string, Craft>> = { 'a long text': longText, 'control characters': controls };

/** Lists that a hostile writer could make. SQLite reads JSON5, too. */
const LISTS: Readonly<Record<string, Craft>> = {
  'a long text': (bytes, row) => `["${longText(bytes - 4, row)}"]`,
  'escaped texts': (bytes, row) => `["${row} ${'\\u0001'.repeat(bytes / 6 - 5)}"]`,
  'control characters': (bytes, row) => `['${controls(bytes - 4, row)}']`,
  'distinct texts': (bytes, row) => JSON.stringify(times(bytes / 9, (i) => (row * bytes + i).toString(36))),
  'equal texts': (bytes) => listOf(bytes, '""'),
  numbers: (bytes) => listOf(bytes, '1'),
  digits: (bytes) => `[${'1'.repeat(bytes - 2)}]`,
  objects: (bytes) => listOf(bytes, '{}'),
  brackets: (bytes) => '['.repeat(bytes),
  blanks: (bytes) => `["1",${' '.repeat(bytes - 8)}"2"]`,
};

describe('The memory of a load stays within its estimate', () => {
  const inFolder = folderForAll();

  before(() => buildFile(smallImport(ORGANIZATIONS), inFolder('sound.sqlite')));

  /** Changes a column of the first rows. A record begins with its id. */
  const craft = (
    table: string,
    column: string,
    isId: boolean,
    rows: number,
    valueOf: (row: number) => string,
  ) => {
    const record = isId ? `, record = replace(record, json_quote(${column}), json_quote(crafted(row)))` : '';
    return (path: string) => {
      new Database(path)
        .function('crafted', (row) => valueOf(Number(row)))
        .exec(`UPDATE ${table} SET ${column} = crafted(row) ${record} WHERE row <= ${rows}`)
        .close();
    };
  };

  const cases = COLLECTIONS.flatMap(({ name, idColumn, columns }) =>
    [{ column: idColumn, holds: 'id' as const }, ...columns].flatMap(({ column, holds }) => {
      if (holds === 'instant') return [];
      return Object.entries(holds === 'list' ? LISTS : TEXTS).flatMap(([what, value]) =>
        (holds === 'id' ? ID_SIZES : SIZES).flatMap((size) =>
          [true, false].map((isDeclared) => ({
            name,
            column,
            isId: holds === 'id',
            what,
            value,
            ...size,
            isDeclared,
          })),
        ),
      );
    }),
  );
  for (const { name, column, isId, what, value, bytes, rows, isDeclared } of cases.filter(
    (_, i) => i % STEP === 0,
  ))
    it(`with ${what} of ${bytes} bytes in ${column} of ${name}, ${isDeclared ? '' : 'not '}declared`, () => {
      const [sound, crafted] = [inFolder('sound.sqlite'), inFolder('crafted.sqlite')];
      const path = alteredCopy(
        sound,
        crafted,
        craft(name, column, isId, rows, (row) => value(bytes, row)),
      );
      if (!isDeclared) {
        change(path, [`UPDATE lists SET text_bytes = 0, list_elements = 0 WHERE collection = '${name}'`]);
        restamp(path);
      }
      const { peak } = memoryNeed(inspectSnapshot(path).organizations);
      const [growth, outcome] = execFileSync(process.execPath, [LOAD, path], OPTIONS).split(' ');
      if (!isDeclared && !isId) expect(outcome).not.to.equal('live');
      expect(Number(growth) / MEGABYTE, outcome).to.be.below(peak / MEGABYTE);
    });
});
