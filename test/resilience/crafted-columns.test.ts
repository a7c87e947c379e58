import { execFileSync } from 'node:child_process';
import Database from 'better-sqlite3';
import { expect } from 'chai';
import { memoryNeed } from '../../src/snapshot/admission/memory.ts';
import { COLLECTIONS } from '../../src/snapshot/format/layout.ts';
import { inspectSnapshot } from '../../src/snapshot/load/read-snapshot.ts';
import { MEGABYTE } from '../../src/store/memory/shared-arrays.ts';
import { alteredCopy } from '../support/altered-snapshot.ts';
import { INHERITED } from '../support/command.ts';
import { byDepth } from '../support/depth.ts';
import { buildFile } from '../support/import-folder.ts';
import { times } from '../support/records.ts';
import { smallImport } from '../support/small-import.ts';
import { folderForAll } from '../support/temporary-folder.ts';

const ORGANIZATIONS = byDepth({ short: 3, deep: 12 });
/** The distance of the tried cases among all. It has no common divisor with their numbers. */
const STEP = byDepth({ short: 13, deep: 1 });
const LOAD = new URL('../support/measured-load.ts', import.meta.url).pathname;
const OPTIONS = { env: INHERITED, encoding: 'utf8' } as const;
/** Just below the limit of a column. */
const BYTES = 15.9 * MEGABYTE;

const filledWith = (text: string) => text.repeat(BYTES / text.length);
const array = (elements: readonly unknown[]) => JSON.stringify(elements);
const distinct = (count: number) => times(count, (i) => i.toString(36));
const emptyLists = (count: number) => times(count, () => '[]').join(',');

/** Columns that a hostile writer could make for a number of records. */
const CRAFTED: Readonly<Record<string, (count: number) => string>> = {
  brackets: () => filledWith('['),
  objects: () => `[${filledWith('{},')}`,
  'short texts': () => `[${filledWith('"",')}`,
  numbers: () => `[${filledWith('1,')}`,
  digits: (count) => `[${filledWith('1')}${',1'.repeat(count - 1)}]`,
  'long texts': (count) => array(times(count, (i) => `${i} ${'x'.repeat(BYTES / count - 10)}`)),
  'escaped texts': (count) => array(times(count, (i) => `${i} ${'\\n'.repeat(BYTES / count / 4 - 3)}`)),
  'a list of distinct texts': (count) => `[${array(distinct(BYTES / 8))},${emptyLists(count - 1)}]`,
  'a list of equal texts': (count) => `[[${filledWith('"",').slice(0, -1)}],${emptyLists(count - 1)}]`,
};

describe('The memory of a load stays within its estimate', () => {
  const inFolder = folderForAll();

  before(async () => {
    const organizations = times(ORGANIZATIONS, (i) => `o${i}`);
    await buildFile(smallImport(organizations), inFolder('sound.sqlite'));
  });

  const craft = (table: string, column: string, content: (count: number) => string) => (path: string) => {
    new Database(path)
      .function('crafted', (count) => content(Number(count)))
      .exec(`UPDATE ${table} SET ${column} = crafted(json_array_length(record_lengths))`)
      .close();
  };

  const cases = COLLECTIONS.flatMap(({ table, columns }) =>
    [...columns.map(({ column }) => column), 'changed_at'].flatMap((column) =>
      Object.entries(CRAFTED).map(([what, content]) => ({ table, column, what, content })),
    ),
  );
  for (const { table, column, what, content } of cases.filter((_, i) => i % STEP === 0))
    it(`with ${what} in ${column} of ${table}`, () => {
      const [sound, crafted] = [inFolder('sound.sqlite'), inFolder('crafted.sqlite')];
      const path = alteredCopy(sound, crafted, craft(table, column, content));
      const { peak } = memoryNeed(inspectSnapshot(path).organizations);
      const [growth, outcome] = execFileSync(process.execPath, [LOAD, path], OPTIONS).split(' ');
      expect(Number(growth) / MEGABYTE, outcome).to.be.below(peak / MEGABYTE);
    });
});
