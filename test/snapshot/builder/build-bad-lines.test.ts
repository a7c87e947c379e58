import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { FieldProblem } from '../../../src/snapshot/builder/import/problems.ts';
import { describeGroup, ImportRejected } from '../../../src/snapshot/builder/staging/rejections.ts';
import { BAD_IMPORT, BAD_LINES, badLinesOf, FILES, GOOD, GOOD_BEFORE, NOT_UTF8, ours } from './bad-lines.ts';
import {
  inOrganization,
  minimalEvent,
  minimalOffer,
  minimalOrder,
  minimalSession,
  minimalTicket,
  times,
} from '../../support/records.ts';
import { type Import, organizationOf, recordsOf } from '../../support/import-folder.ts';
import { refusalOf } from '../../support/refusal.ts';
import { Builds, type BuiltFile } from '../builds.ts';

interface Reject {
  readonly file: string;
  readonly line: number;
  readonly reasons: readonly FieldProblem[];
  readonly text?: string;
}

/** Reads the file of the lines that a build left out. */
function rejectsOf(snapshot: string): Reject[] {
  const lines = readFileSync(`${snapshot}.rejects.ndjson`, 'utf8').trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as Reject);
}

describe('A bad line of the import', () => {
  const { build } = new Builds();
  let built: BuiltFile;
  let rejects: readonly Reject[];

  before(async () => {
    built = await build(BAD_IMPORT, { skipInvalid: true });
    rejects = rejectsOf(built.file);
  });

  for (const file of FILES) {
    badLinesOf(file).forEach(([, line, field, reason], i) => {
      const number = GOOD_BEFORE[file].length + 1 + i;
      const shown = JSON.stringify(line).slice(0, 150);
      it(`is reported: ${file} ${number}, ${field || 'the line'}: ${String(reason).slice(0, 60)} ← ${shown}`, () => {
        const found = rejects.filter((reject) => reject.file === `${file}.ndjson` && reject.line === number);
        const reasons = found.flatMap((reject) => reject.reasons);
        expect(reasons.map((problem) => problem.field)).to.deep.equal([field]);
        if (typeof reason === 'string') expect(reasons[0].reason).to.equal(reason);
        else expect(reasons[0].reason).to.match(reason);
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
    for (const { file, line, reasons, text } of rejects) {
      const imported = lines[file.replace('.ndjson', '')][line - 1];
      if (reasons[0].reason === NOT_UTF8) expect(text, `${file}:${line}`).to.equal(undefined);
      else if (typeof imported === 'string') expect(text).to.equal(imported);
      // A line that contradicts other lines is written from its stored form.
      else expect(JSON.parse(text ?? '')).to.deep.include(imported);
    }
  });

  it('rejects the import with the number of bad lines and their groups, by file and first line', async () => {
    const { total, message, groups } = await refusalOf(build(BAD_IMPORT), ImportRejected);
    expect(total).to.equal(BAD_LINES.length);
    expect(message).to.include(`${BAD_LINES.length} bad lines`);
    expect(describeGroup(groups[0])).to.equal(
      'organizations.ndjson: the line must be a JSON object, found hello: 7 lines, first: 3',
    );
    const places = groups.map(({ file, first }) => [FILES.findIndex((name) => file.startsWith(name)), first]);
    expect(places).to.deep.equal(places.toSorted(([a, i], [b, j]) => a - b || i - j));
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
    const { report, image, file } = await build(files, { skipInvalid: true });
    expect(report).to.deep.include({
      rejected: 6,
      records: { events: 1, sessions: 1, tickets: 0, orders: 0, offers: 0 },
    });
    const [event] = recordsOf(organizationOf(image, 'o').events).values();
    expect(event).to.include({ id: 'c', sessionCount: 1 });
    const left = rejectsOf(file).map(({ file, line, reasons: [{ field }] }) => `${file}:${line} ${field}`);
    expect(left).to.have.members([
      'events.ndjson:1 createdAt',
      'sessions.ndjson:1 eventId',
      'sessions.ndjson:2 startAt',
      'sessions.ndjson:3 eventId',
      'sessions.ndjson:5 durationMinutes',
      'events.ndjson:2 id',
    ]);
    const refusal = await refusalOf(build(files), ImportRejected);
    expect(refusal.message).to.equal('the import contains 6 bad lines, 3 of them only because of others');
    expect(refusal.groups.map(({ file, field }) => `${file} ${field}`)).to.deep.equal([
      'events.ndjson createdAt',
      'sessions.ndjson startAt',
      'sessions.ndjson durationMinutes',
    ]);
  });
});

describe('The groups of bad lines', () => {
  const { build } = new Builds();
  const good = {
    organizations: [{ organizationId: 'o' }],
    events: [GOOD.events('evt')],
    sessions: [GOOD.sessions('ses')],
  };
  const invoices = times(3000, (i) => ({
    ...{ createdAt: '2026-11-02 10:15:00', totalPrice: `${i}.50`, status: 'PAID' },
    placedItems: [{ quantity: 1 }, { quantity: 'two' }, { quantity: 'three' }],
  }));
  const betweenLines = {
    organizations: good.organizations,
    events: ['a', 'a', 'lonely'].map((id) => ours(minimalEvent(id, { tags: 'rock' }))),
    sessions: [
      ['s', 'a'],
      ['t', 'nowhere'],
      ['s', 'a'],
    ].map(([id, eventId]) => ours(minimalSession(id, eventId, { durationMinutes: '90' }))),
    tickets: ['t', 'u', 't'].map((id, i) => ours(minimalTicket(id, i === 0 ? { vat: '1' } : {}))),
  };
  const tickets = [GOOD.tickets('t'), inOrganization('else')(minimalTicket('u'))];
  const TIMESTAMP =
    'must be an ISO 8601 date and time with Z or an offset, such as 2026-01-31T20:00:00+01:00, found';
  const ORDER_STATUS = 'must be one of PENDING, FULFILLED, CANCELLED, found "PAID"';

  /** The groups of imports, as the command prints them. */
  for (const [what, files, ...groups] of [
    [
      'have all reasons of each line, over all files, and count a line once however many list elements are bad',
      {
        ...good,
        orders: invoices.map((invoice, i) => ours(minimalOrder(`o${i}`, invoice))),
        tickets: times(20_000, (i) =>
          ours(minimalTicket(`t${i}`, i === 4711 ? { vat: true } : { orderId: undefined })),
        ),
      },
      'tickets.ndjson: orderId is missing: 19,999 lines, first: 1',
      'tickets.ndjson: vat must be number or null, found true: line 4712',
      `orders.ndjson: status ${ORDER_STATUS}: 3,000 lines, first: 1`,
      'orders.ndjson: totalPrice must be number or null, found "0.50": 3,000 lines, first: 1',
      'orders.ndjson: placedItems[].quantity must be integer or null, found "two": 3,000 lines, first: 1',
      `orders.ndjson: createdAt ${TIMESTAMP} "2026-11-02 10:15:00": 3,000 lines, first: 1`,
    ],
    [
      'show the beginning of a long value, without control characters',
      {
        ...good,
        tickets: [ours(minimalTicket('t', { listPrice: `\u001b]0;\u202e\u0085${'x'.repeat(100_000)}` }))],
      },
      /^tickets.{10,70}found "\\u001b\]0;\ufffd\ufffdx{20,60}…: line 1$/,
    ],
    [
      'have the problems of an offer besides its type',
      // In capitals, the type would be a variant, whose fields are checked.
      {
        ...good,
        offers: [
          ours(minimalOffer('off_0', 'PRODUCT', { createdAt: 'now', type: undefined })),
          ours(minimalOffer('off_1', 'TICKET', { createdAt: 'now', type: 'ticket', eventId: 5 })),
        ],
      },
      /^offers\.ndjson: type must be one of TICKET, PRODUCT, BUNDLE: 2 lines/,
      `offers.ndjson: createdAt ${TIMESTAMP} "now": 2 lines, first: 1`,
      'offers.ndjson: eventId must be string, found 5: line 2',
    ],
    [
      'have the problems between lines, also of lines with another problem',
      betweenLines,
      'events.ndjson: tags must be array or null, found "rock": 3 lines, first: 1',
      'events.ndjson: id must be unique, found "a" also on line 1: line 2',
      'events.ndjson: id must have a session, found "lonely": line 3',
      'sessions.ndjson: durationMinutes must be integer, found "90": 3 lines, first: 1',
      'sessions.ndjson: eventId must be an event of the organization, found "nowhere": line 2',
      'sessions.ndjson: id must be unique, found "s" also on line 1: line 3',
      'tickets.ndjson: vat must be number or null, found "1": line 1',
      'tickets.ndjson: ticketId must be unique, found "t" also on line 3: line 1',
    ],
    [
      'lack the records of an organization whose line is bad',
      { organizations: [{ organizationId: 'o', name: 5 }, { organizationId: 'p' }], tickets },
      'organizations.ndjson: name must be string or null, found 5: line 1',
      'tickets.ndjson: organizationId must be in organizations.ndjson, found "else": line 2',
    ],
    [
      'lack the records of unknown organizations when an organization cannot be read',
      { organizations: ['{"organizationId":"o"', { organizationId: 'p' }], tickets },
      /^organizations\.ndjson: the line /,
    ],
    [
      'lack the records of unknown organizations when an organization has no id',
      { organizations: [{ name: 'o' }, { organizationId: 'p' }], tickets },
      'organizations.ndjson: organizationId is missing: line 1',
    ],
    [
      'lack the sessions of events that cannot be read',
      { ...good, events: ['id,title', 'evt,Concert'], sessions: [GOOD.sessions('a'), GOOD.sessions('b')] },
      /^events\.ndjson: the line must be a JSON object: convert CSV .*: 2 lines, first: 1$/,
    ],
    [
      'lack an event whose sessions cannot be read',
      { ...good, sessions: ['', "{'id':'ses'}"] },
      /^sessions\.ndjson: the line must be a JSON object, found Expected property name .*: line 2$/,
    ],
    [
      'lack an event whose sessions have ids of others',
      {
        ...good,
        events: [GOOD.events('evt'), GOOD.events('later')],
        sessions: [GOOD.sessions('ses'), ours(minimalSession('ses', 'later'))],
      },
      'sessions.ndjson: id must be unique, found "ses" also on line 1: line 2',
    ],
    [
      'have an event without a session, and a session without an event, although other lines are bad',
      {
        ...good,
        events: [ours(minimalEvent('evt', { tags: 'a' })), GOOD.events('other')],
        sessions: [GOOD.sessions('a'), ours(minimalSession('b', 'third'))],
      },
      'events.ndjson: tags must be array or null, found "a": line 1',
      'events.ndjson: id must have a session, found "other": line 2',
      'sessions.ndjson: eventId must be an event of the organization, found "third": line 2',
    ],
  ] satisfies [string, Import, ...(string | RegExp)[]][]) {
    it(what, async () => {
      const refusal = await refusalOf(build(files), ImportRejected);
      const found = refusal.groups.map(describeGroup);
      expect(found, found.join('\n')).to.have.length(groups.length);
      for (const [i, group] of groups.entries())
        if (typeof group === 'string') expect(found[i]).to.equal(group);
        else expect(found[i]).to.match(group);
    });
  }

  it('are of lines that may be skipped, each with all its problems', async () => {
    const { tickets } = betweenLines;
    const { report, file } = await build({ ...good, tickets }, { skipInvalid: true });
    expect(report.records.tickets).to.equal(2);
    const [{ line, reasons, text }, ...others] = rejectsOf(file);
    expect(others).to.deep.equal([]);
    expect({ line, text }).to.deep.equal({ line: 1, text: JSON.stringify(tickets[0]) });
    expect(reasons.map(({ field }) => field)).to.deep.equal(['vat', 'ticketId']);
  });
});

describe('The limit of skipped lines', () => {
  const { inFolder, build } = new Builds();
  /** 200 lines, of which three tickets and the session of a bad event are bad. */
  const files: Import = {
    organizations: [{ organizationId: 'o' }],
    events: [GOOD.events('evt'), ours(minimalEvent('bad', { currency: null }))],
    sessions: [GOOD.sessions('ses'), ours(minimalSession('follows', 'bad'))],
    tickets: [...times(192, (i) => GOOD.tickets(`t${i}`)), '', '{}', GOOD.tickets('t1'), 'x'],
  };

  for (const maxInvalid of [{ lines: 5 }, { percent: 2.5 }]) {
    it(`is kept: ${JSON.stringify(maxInvalid)}`, async () => {
      expect((await build(files, { skipInvalid: true, maxInvalid })).report.rejected).to.equal(5);
    });
  }

  for (const [maxInvalid, limit] of [
    [{ lines: 4 }, 4],
    [{ lines: 0 }, 0],
    [{ percent: 2.49 }, 4],
    [{ percent: 0 }, 0],
  ] as const) {
    it(`is exceeded, and nothing is written: ${JSON.stringify(maxInvalid)}`, async () => {
      const snapshots = () =>
        readdirSync(inFolder('.'), { recursive: true }).filter((name) => name.includes('sqlite'));
      const before = snapshots();
      const refusal = await refusalOf(build(files, { skipInvalid: true, maxInvalid }), ImportRejected);
      expect(refusal.message).to.equal(
        `the import contains 5 bad lines, 1 of them only because of others, of 200 read; at most ${limit} may be omitted`,
      );
      expect(refusal.groups).to.have.length.above(2);
      expect(snapshots()).to.deep.equal(before);
    });
  }
});
