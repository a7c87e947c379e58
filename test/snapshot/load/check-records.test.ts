import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { COLLECTIONS, SESSIONS } from '../../../src/snapshot/format/layout.ts';
import { RefusedSnapshot } from '../../../src/snapshot/format/refused-snapshot.ts';
import { recordDigest, sumText } from '../../../src/snapshot/format/schema.ts';
import { readSnapshot } from '../../support/read-snapshot.ts';
import { inspectSnapshot } from '../../../src/snapshot/format/open-snapshot.ts';
import Database from 'better-sqlite3';
import type { ListContent } from '../../support/alter-records.ts';
import { columnsOf, restamp } from '../../support/digests.ts';
import { SoundSnapshot } from '../../support/sound-snapshot.ts';

/** Changes the first record of a list, in an index column or in its JSON text. */
function changeIn(column: string, { records, columns }: ListContent): void {
  if (column === 'record') {
    records[0] = records[0]
      .replace(/("(status|title|name)":")/, '$1x')
      .replace(/("durationMinutes":)/, '$11');
    return;
  }
  const value = columns[column][0];
  if (Array.isArray(value)) columns[column][0] = [...(value as unknown[]), 'zz'];
  else
    columns[column][0] =
      typeof value === 'bigint' ? value + (column === 'starts' ? -1n : 1n) : changedText(column);
}

/** Sessions need an event. */
function changedText(column: string): string {
  return column === 'event_id' ? 'evt_0' : 'x';
}

describe('The sum of the digests of records', () => {
  const snapshot = new SoundSnapshot();

  const sumIn = (path: string, { name }: (typeof COLLECTIONS)[number]) =>
    inspectSnapshot(path).organizations[0].lists[name].recordsSum;
  const check = (path: string) => readSnapshot(path, { isThorough: true });

  it('is that of the example in docs/snapshot-format.md', () => {
    const text = readFileSync(new URL('../../../docs/snapshot-format.md', import.meta.url), 'utf8');
    const session = /^\["sessions",(.*)\]\n(.*)\n\n[ +] (.*)$/gm;
    const digests = Array.from(text.matchAll(session), ([, values, record, digest]) => {
      const found = recordDigest('sessions', values, record);
      expect(sumText(found)).to.equal(digest);
      return found;
    });
    expect(digests).to.have.length(2);
    expect(text).to.include(`\n= ${sumText(digests[0] + digests[1])}\n`);
  });

  for (const layout of COLLECTIONS) {
    for (const column of [...columnsOf(layout.name).slice(1, -1), 'record']) {
      it(`covers ${column} of ${layout.name}`, () => {
        check(snapshot.path);
        const sum = sumIn(snapshot.path, layout);
        const path = snapshot.altered(layout.name, (content) => {
          changeIn(column, content);
        });
        expect(sumIn(path, layout)).to.not.equal(sum);
        const set = 'UPDATE lists SET records_sum = ? WHERE organization_id = ? AND collection = ?';
        const database = new Database(path);
        database.prepare(set).run(sum, 'north', layout.name);
        database.close();
        restamp(path);
        expect(() => check(path)).to.throw(RefusedSnapshot);
        // Sessions are in the order of their events.
        if (column !== 'event_id' || layout !== SESSIONS) readSnapshot(path);
      });
    }
  }

  it('does not cover the times of changes', () => {
    for (const layout of COLLECTIONS) {
      const path = snapshot.altered(layout.name, ({ columns }) => columns['changed_at'].fill(0));
      expect(sumIn(path, layout)).to.equal(sumIn(snapshot.path, layout));
    }
  });

  it('does not depend on the order of the records, which is checked besides', () => {
    for (const layout of COLLECTIONS) {
      const path = snapshot.altered(layout.name, ({ records, columns }) => {
        for (const elements of [records, ...Object.values(columns)]) elements.reverse();
      });
      expect(sumIn(path, layout)).to.equal(sumIn(snapshot.path, layout));
      // That of sessions is part of every load.
      const message = layout === SESSIONS ? /is out of order/ : `record 1 of ${layout.name} is out of order`;
      expect(() => check(path)).to.throw(RefusedSnapshot, message);
    }
  });
});
