import { execFileSync } from 'node:child_process';
import Database from 'better-sqlite3';
import { expect } from 'chai';
import { memoryNeed } from '../../src/snapshot/admission/memory.ts';
import { COLLECTIONS } from '../../src/snapshot/format/layout.ts';
import { inspectSnapshot } from '../../src/snapshot/load/read-snapshot.ts';
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
const ROWS = 12;
/** The distance of the tried cases among all. It has no common divisor with their numbers. */
const STEP = byDepth({ short: 1, deep: 1 });
const LOAD = new URL('../support/measured-load.ts', import.meta.url).pathname;
const OPTIONS = { env: INHERITED, encoding: 'utf8' } as const;
/** Just below the limit of a row, with a record of some kilobytes. */
const BYTES = 3.95 * MEGABYTE;
/** With an escape of six bytes for each, just below the limit of a record. */
const ID_CHARACTERS = 0.95 * (MEGABYTE / 6);

/** Returns a text of many characters that no other row has. */
const distinct = (character: string, row: number, bytes = BYTES) =>
  `${row} ${character.repeat((bytes - 10) / character.length)}`;
const listOf = (element: string) => `[${Array(Math.floor(BYTES / (element.length + 1))).fill(element)}]`;

type Craft = (row: number) => string;

/** Values that a hostile writer could give to a column of texts. */
const TEXTS: Readonly<Record<string, Craft>> = {
  'long texts': (row) => distinct('x', row),
  'texts that are escaped': (row) => distinct('\u0001', row),
};

/** Values that a hostile writer could give to a column of lists. */
const LISTS: Readonly<Record<string, Craft>> = {
  'long texts': (row) => `["${distinct('x', row)}"]`,
  'texts with escapes': (row) => `["${distinct('\\u0001', row)}"]`,
  'texts that are escaped': (row) => `['${distinct('\u0001', row)}']`,
  'distinct texts': (row) => JSON.stringify(times(BYTES / 9, (i) => (row * BYTES + i).toString(36))),
  'equal texts': () => listOf('""'),
  numbers: () => listOf('1'),
  digits: () => `[${'1'.repeat(BYTES)}]`,
  objects: () => listOf('{}'),
  brackets: () => '['.repeat(BYTES),
  blanks: () => `[${' '.repeat(BYTES)}]`,
};

const IDS: Readonly<Record<string, Craft>> = {
  'long texts': (row) => distinct('x', row, ID_CHARACTERS * 6),
  'texts that are escaped': (row) => distinct('\u0001', row, ID_CHARACTERS),
};

describe('The memory of a load stays within its estimate', () => {
  const inFolder = folderForAll();

  before(() => buildFile(smallImport(ORGANIZATIONS), inFolder('sound.sqlite')));

  /** Changes a column of the first rows. A record begins with its id. */
  const craft = (table: string, column: string, isId: boolean, value: Craft) => (path: string) => {
    const record = isId ? `, record = replace(record, json_quote(${column}), json_quote(crafted(row)))` : '';
    new Database(path)
      .function('crafted', (row) => value(Number(row)))
      .exec(`UPDATE ${table} SET ${column} = crafted(row) ${record} WHERE row <= ${ROWS}`)
      .close();
  };

  const cases = COLLECTIONS.flatMap(({ name, idColumn, columns }) =>
    [{ column: idColumn, values: IDS }].concat(
      columns.flatMap(({ column, holds }) => {
        if (holds === 'instant') return [];
        return [{ column, values: holds === 'text' ? TEXTS : LISTS }];
      }),
    ).flatMap(({ column, values }) =>
      Object.entries(values).flatMap(([what, value]) =>
        ['as it is', 'as nothing'].map((declared) => ({ name, column, isId: values === IDS, what, value, declared })),
      ),
    ),
  );
  for (const { name, column, isId, what, value, declared } of cases.filter((_, i) => i % STEP === 0))
    it(`with ${what} in ${column} of ${name}, declared ${declared}`, () => {
      const [sound, crafted] = [inFolder('sound.sqlite'), inFolder('crafted.sqlite')];
      const path = alteredCopy(sound, crafted, craft(name, column, isId, value));
      if (declared === 'as nothing') {
        change(path, [`UPDATE lists SET text_bytes = 0, list_elements = 0 WHERE collection = '${name}'`]);
        restamp(path);
      }
      const { peak } = memoryNeed(inspectSnapshot(path).organizations);
      const [growth, outcome] = execFileSync(process.execPath, [LOAD, path], OPTIONS).split(' ');
      console.log(what, column, name, declared, Math.round(Number(growth)/MEGABYTE), Math.round(peak/MEGABYTE), outcome);
      expect(Number(growth) / MEGABYTE, outcome).to.be.below(peak / MEGABYTE);
    });
});
