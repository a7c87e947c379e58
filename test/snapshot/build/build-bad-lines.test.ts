import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { describeRejection, ImportRejected, type Rejection } from '../../../src/snapshot/build/rejections.ts';
import { folderForAll } from '../../support/temporary-folder.ts';
import { BAD_IMPORT, BAD_LINES, badLinesOf, FILES, GOOD, GOOD_BEFORE, NOT_UTF8, ours } from './bad-lines.ts';
import { minimalEvent, minimalSession } from '../../support/records.ts';
import { type Built, builtFrom, organizationOf, recordsOf } from '../../support/import-folder.ts';
import { refusalOf } from '../format/refusal.ts';

interface Reject extends Rejection {
  readonly text?: string;
}

describe('A bad line of the import', () => {
  const folder = folderForAll();
  let built: Built;
  let rejects: readonly Reject[];

  before(async () => {
    built = await builtFrom(folder('import'), BAD_IMPORT, { skipInvalid: true });
    rejects = readFileSync(folder('import/snapshot.sqlite.rejects.ndjson'), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Reject);
  });

  for (const file of FILES) {
    badLinesOf(file).forEach(([, line, field, reason], i) => {
      const number = GOOD_BEFORE[file].length + 1 + i;
      const shown = JSON.stringify(line).slice(0, 150);
      it(`is reported: ${file} ${number}, ${field || 'the line'}: ${String(reason).slice(0, 60)} ← ${shown}`, () => {
        const found = rejects.filter((reject) => reject.file === `${file}.ndjson` && reject.line === number);
        expect(found.map((reject) => reject.field)).to.deep.equal([field]);
        if (typeof reason === 'string') expect(found[0].reason).to.equal(reason);
        else expect(found[0].reason).to.match(reason);
      });
    });
  }

  it('is skipped, and every good line is kept', () => {
    expect(built.report.rejected).to.equal(BAD_LINES.length);
    expect(rejects).to.have.length(BAD_LINES.length);
    const { events, sessions, tickets, orders, offers } = organizationOf(built.image, 'o');
    expect([...recordsOf(events).keys()]).to.deep.equal(['evt']);
    for (const collection of [sessions, tickets, orders, offers]) {
      expect([...recordsOf(collection).keys()]).to.deep.equal(['after', 'good']);
    }
    const theirs = organizationOf(built.image, 'theirs');
    expect([...recordsOf(theirs.tickets).keys()]).to.deep.equal(['good']);
    expect(built.image.organizations).to.have.length(2);
  });

  it('is written to the rejects with its text', () => {
    const lines: Readonly<Record<string, readonly unknown[]>> = BAD_IMPORT;
    for (const { file, line, reason, text } of rejects) {
      const imported = lines[file.replace('.ndjson', '')][line - 1];
      if (reason === NOT_UTF8) expect(text, `${file}:${line}`).to.equal(undefined);
      else if (typeof imported === 'string') expect(text).to.equal(imported);
      // A line that contradicts other lines is written from its stored form.
      else expect(JSON.parse(text ?? '')).to.deep.include(imported);
    }
  });

  it('rejects the import, which reports the first 20 in order and the number of all', async () => {
    const refusal = await refusalOf(builtFrom(folder('refused'), BAD_IMPORT), ImportRejected);
    expect(refusal.total).to.equal(BAD_LINES.length);
    expect(refusal.message).to.include(String(BAD_LINES.length));
    expect(refusal.first).to.have.length(20);
    const [first] = refusal.first;
    expect(describeRejection(first)).to.equal('organizations.ndjson:3: the line is not a JSON object');
    expect(refusal.first.map(({ line }) => line)).to.deep.equal(Array.from({ length: 20 }, (_, i) => 3 + i));
  });

  it('is described as FILE:LINE: FIELD REASON', () => {
    const rejection = {
      file: 'orders.ndjson.gz',
      line: 17,
      field: 'placedItems[1].quantity',
      reason: 'must be integer',
    };
    expect(describeRejection(rejection)).to.equal(
      'orders.ndjson.gz:17: placedItems[1].quantity must be integer',
    );
  });

  it('takes its dependents with it: the sessions of a bad event, and an event with bad sessions only', async () => {
    const files = {
      organizations: [{ organizationId: 'o' }],
      events: [ours(minimalEvent('a', { createdAt: 'never' })), GOOD.events('b'), GOOD.events('c')],
      sessions: [
        ours(minimalSession('a1', 'a')),
        ours(minimalSession('b1', 'b', { startAt: 'never' })),
        ours(minimalSession('a2', 'a')),
        ours(minimalSession('c1', 'c')),
        ours(minimalSession('c2', 'c', { durationMinutes: 'long' })),
      ],
    };
    const { report, image } = await builtFrom(folder('cascade'), files, { skipInvalid: true });
    expect(report).to.deep.include({
      rejected: 6,
      records: { events: 1, sessions: 1, tickets: 0, orders: 0, offers: 0 },
    });
    const [event] = recordsOf(organizationOf(image, 'o').events).values();
    expect(event).to.include({ id: 'c', sessionCount: 1 });
    const left = readFileSync(folder('cascade/snapshot.sqlite.rejects.ndjson'), 'utf8').trimEnd().split('\n');
    const named = left.map((line) => JSON.parse(line) as Reject).map((reject) => describeRejection(reject));
    expect(named).to.have.members([
      'events.ndjson:1: createdAt must be an ISO 8601 date and time with Z or an offset, such as 2026-01-31T20:00:00+01:00, within the years 0000 to 9999 in UTC',
      'sessions.ndjson:1: eventId "a" is not an event of the organization',
      'sessions.ndjson:2: startAt must be an ISO 8601 date and time with Z or an offset, such as 2026-01-31T20:00:00+01:00',
      'sessions.ndjson:3: eventId "a" is not an event of the organization',
      'sessions.ndjson:5: durationMinutes must be integer or null',
      'events.ndjson:2: id "b" has no session in the import',
    ]);
  });
});
