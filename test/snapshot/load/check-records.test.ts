import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { COLLECTIONS, SESSIONS } from '../../../src/snapshot/format/layout.ts';
import { RefusedSnapshot } from '../../../src/snapshot/format/refused-snapshot.ts';
import {
  contentColumns,
  LENGTHS_COLUMN,
  recordDigest,
  sumText,
} from '../../../src/snapshot/format/schema.ts';
import { openSnapshot } from '../../../src/snapshot/format/snapshot-file.ts';
import { checkRecords } from '../../../src/snapshot/load/check-records.ts';
import { RunReader } from '../../../src/snapshot/load/run-reader.ts';
import type { RunContent } from '../../support/alter-runs.ts';
import { SoundSnapshot } from '../../support/sound-snapshot.ts';

/** Changes the first record of a run, in a column or in its JSON text. */
function changeIn(column: string, { records, columns }: RunContent): void {
  if (column === 'records') {
    records[0] = records[0].replace(/}$/, ' }');
    return;
  }
  const value = columns[column][0];
  if (Array.isArray(value)) value.push('x');
  else columns[column][0] = typeof value === 'number' ? value + 1 : 'x';
}

describe('The sum of the digests of records', () => {
  const snapshot = new SoundSnapshot();

  /** Checks the first run of a collection in a file, by default against the sum that the file declares. */
  function check(path: string, layout: (typeof COLLECTIONS)[number], recordsSum?: string): string {
    using opened = openSnapshot(path);
    const entry = opened.manifest.organizations[0].runs[layout.name][0];
    const sum = recordsSum ?? entry.recordsSum;
    const run = new RunReader(opened.database).read(layout, 'north', { ...entry, recordsSum: sum });
    checkRecords(run);
    return sum;
  }

  it('is that of the example in docs/snapshot-format.md', () => {
    const text = readFileSync(new URL('../../../docs/snapshot-format.md', import.meta.url), 'utf8');
    const session = /^\["sessions",(.*)\]\n(.*)\n\n[ +] (.*)$/gm;
    const digests = Array.from(text.matchAll(session), ([, values, record, digest]) => {
      const found = recordDigest('sessions', values.split(','), record);
      expect(sumText(found)).to.equal(digest);
      return found;
    });
    expect(digests).to.have.length(2);
    expect(text).to.include(`\n= ${sumText(digests[0] + digests[1])}\n`);
  });

  for (const layout of COLLECTIONS) {
    for (const column of contentColumns(layout).filter((one) => one !== LENGTHS_COLUMN)) {
      it(`covers ${column} of ${layout.table}`, () => {
        const sum = check(snapshot.path, layout);
        const path = snapshot.altered(layout.name, (run) => {
          changeIn(column, run);
        });
        expect(check(path, layout)).to.not.equal(sum);
        expect(() => check(path, layout, sum)).to.throw(
          RefusedSnapshot,
          `the records of ${layout.table} at row 0 do not have the records_sum that "runs" declares`,
        );
      });
    }
  }

  it('is not computed of a run that was parsed before, whose place among the others is checked', () => {
    using opened = openSnapshot(snapshot.path);
    for (const layout of COLLECTIONS.filter((one) => one !== SESSIONS)) {
      const entry = opened.manifest.organizations[0].runs[layout.name][0];
      const run = new RunReader(opened.database).read(layout, 'north', { ...entry, recordsSum: '' });
      const last = checkRecords(run, undefined, true);
      expect(() => checkRecords(run, undefined, true, last)).to.throw(
        RefusedSnapshot,
        `record 0 of ${layout.table} is out of order`,
      );
    }
  });

  it('does not depend on the order of the records, which is checked besides', () => {
    for (const layout of COLLECTIONS) {
      const path = snapshot.altered(layout.name, ({ records, columns }) => {
        for (const elements of [records, ...Object.values(columns)]) elements.reverse();
      });
      // That of sessions is part of every load.
      if (layout === SESSIONS) expect(check(path, layout)).to.equal(check(snapshot.path, layout));
      else
        expect(() => check(path, layout)).to.throw(
          RefusedSnapshot,
          `record 1 of ${layout.table} is out of order`,
        );
    }
  });
});
