import { expect } from 'chai';
import { minimalPricing, recordsIn, times } from '../../support/records.ts';
import { type FileName, type Import, type ImportRecord } from '../../support/import-folder.ts';
import type { ProblemGroup } from '../../../src/snapshot/builder/import/problems.ts';
import { ImportRejected } from '../../../src/snapshot/builder/staging/rejections.ts';
import { Builds } from '../builds.ts';

/** A line, or the fields that a good record gets, with the field and the reason of its rejection. */
type BadLine = readonly [line: ImportRecord | string | Buffer, field: string, reason: string];

const { event, session, ticket, order, offer } = recordsIn('o');
const theirs = recordsIn('theirs');
/** Makes a good record of each file. */
const make: Readonly<Record<FileName, (id: string) => ImportRecord>> = {
  organizations: (organizationId) => ({ organizationId }),
  events: event,
  sessions: (id) => session(id, 'evt'),
  tickets: ticket,
  orders: order,
  offers: (id) => offer(id, 'TICKET'),
};
/** The good lines before the bad ones of each file. */
const GOOD: Readonly<Record<FileName, readonly ImportRecord[]>> = {
  organizations: [{ organizationId: 'o' }, { organizationId: 'theirs' }],
  events: [event('evt'), theirs.event('evt_theirs')],
  sessions: [session('good', 'evt'), theirs.session('good', 'evt_theirs')],
  tickets: [ticket('good'), theirs.ticket('good')],
  orders: [order('good'), theirs.order('good')],
  offers: [offer('good', 'TICKET'), theirs.offer('good', 'PRODUCT')],
};
const FILES = Object.keys(GOOD) as FileName[];

const TIMESTAMP = 'must be an ISO 8601 date and time with Z or an offset, such as 2026-01-31T20:00:00+01:00';
const IN_UTC = `${TIMESTAMP}, within the years 0000 to 9999 in UTC`;
const TIME_ZONE =
  'must be a region and city of the IANA time zone database, such as Europe/Paris; for UTC write Etc/UTC, for an abbreviation or an offset the zone of the venue';
const IDENTIFIER = 'must be well-formed text that is not empty';
const DOTS = 'must not be . or .., which no URL reaches';
const NOT_UTF8 = 'must be UTF-8';

/** Makes a bad line for each bad value of a field. */
const bad = (field: string, reason: string, ...values: unknown[]): BadLine[] =>
  values.map((value) => [{ [field]: value }, field, reason]);
const identifiers = (...fields: string[]) =>
  fields.flatMap((field) => bad(field, IDENTIFIER, '', 'half \ud83c', '\udfad half'));
// The test of timestamps has all invalid forms.
const timestamps = (reason: string, ...fields: string[]) =>
  fields.flatMap((field) => bad(field, reason, '2026-11-02', '2026-02-30T00:00:00Z', ''));

const lineOf = (record: ImportRecord) => JSON.stringify(record);
/** Numbers that a double does not hold, as texts. */
const UNHELD = [
  '738529527931269425',
  '-9007199254740993',
  '33.3333333333333333',
  '1e400',
  '-1e400',
  '1e-400',
];
const UNREAD = 'must be from -9007199254740991 to 9007199254740991: clients read other integers inexactly';
const HELD = 'that a double holds, such as one of 15 digits';
/** Returns a line in which these texts are numbers. */
const unquoted = (record: ImportRecord) =>
  UNHELD.reduce((line, number) => line.replace(`"${number}"`, number), lineOf(record));
const OMITTED = '; omit the customer of an order without one';
const venue = { addressLine1: 'a', city: 'b', postalCode: 'c', countryCode: 'd' };
const billed = (more: ImportRecord) => ({ billingAddress: { type: 'personal', ...venue, ...more } });
const pricing = [minimalPricing('p'), minimalPricing('q', { resaleEnabled: 'no' })];

/** The lines that are bad in any file. The test of problems has all forms of lines that are no objects. */
const ANY: readonly BadLine[] = [
  ['hello', '', 'must be a JSON object'],
  ['{"id":"cut"', '', 'must be a JSON object'],
  [Buffer.from('{"id":"caf\u00e9"}', 'latin1'), '', NOT_UTF8],
  [Buffer.from([0xed, 0xa0, 0x80]), '', NOT_UTF8],
];
const OF_COLLECTIONS = [
  ...ANY,
  ...bad('organizationId', 'must be in organizations.ndjson', 'unknown', 'a:b'),
];

/** The bad lines of each file. The test of nullability has those without a value. */
const BAD: Readonly<Record<FileName, readonly BadLine[]>> = {
  organizations: [
    ...ANY,
    ...bad('organizationId', IDENTIFIER, '', '\ud800'),
    ...bad(
      'organizationId',
      'must be 1 to 128 characters of visible ASCII without ":"',
      'a:b',
      'x'.repeat(129),
    ),
    ...bad('organizationId', 'must be unique', 'o'),
    ...bad('name', 'must be string or null', 5, ['a']),
  ],
  events: [
    ...OF_COLLECTIONS,
    ...bad('id', DOTS, '.', '..'),
    ...identifiers('id'),
    ...timestamps(IN_UTC, 'createdAt', 'updatedAt'),
    ...bad('updatedAt', IN_UTC, '9999-12-31T23:59:59-00:01', '0000-01-01T00:00:00+00:01'),
    ...bad('title', 'must be string', 5, []),
    ...bad(
      'eventTimezone',
      TIME_ZONE,
      '',
      'Mars/Olympus',
      'US/Pacific-New',
      'UTC',
      'EST',
      'Europe/Paris ',
      '+01:00',
      '-0300',
    ),
    ...bad('eventTimezone', 'must be Europe/Paris, in this letter case', 'europe/paris', 'Europe/PARIS'),
    ...bad('eventTimezone', 'must be Europe/Kyiv, in this letter case', 'Europe/KYIV'),
    ...bad('eventTimezone', 'must be Asia/Kathmandu, in this letter case', 'ASIA/KATHMANDU'),
    ...bad('tags', 'must be array or null', 'rock', { 0: 'rock' }),
    ...bad('venueAddress', 'must be object or null', 'rue', []),
    [{ tags: ['a', 1] }, 'tags[1]', 'must be string'],
    [{ venueAddress: { ...venue, city: 3 } }, 'venueAddress.city', 'must be string'],
    [{ id: 'evt' }, 'id', 'must be unique'],
    [{}, 'id', 'must have a session'],
  ],
  sessions: [
    ...OF_COLLECTIONS,
    ...bad('id', DOTS, '.', '..'),
    ...identifiers('id', 'eventId'),
    ...timestamps(TIMESTAMP, 'startAt'),
    ...bad('durationMinutes', 'must be integer', '110', 1.5, true),
    ...bad('durationMinutes', UNREAD, 1e300, 2 ** 53, -(2 ** 53)),
    ...bad('id', 'must be unique', 'good'),
    ...bad('eventId', 'must be an event of the organization', 'nowhere', 'evt_theirs'),
  ],
  tickets: [
    ...OF_COLLECTIONS,
    ...bad('ticketId', DOTS, '.', '..'),
    ...identifiers('ticketId', 'eventId', 'eventSessionId', 'orderId', 'qrCode'),
    ...timestamps(TIMESTAMP, 'issuedAt', 'updatedAt', 'cancelledAt', 'eventSessionStartAt'),
    ...bad('issuedAt', TIMESTAMP, 1, '2026-W45-1T10:15:00Z', '12026-11-02T10:15:00Z'),
    ...bad('issuedAt', TIMESTAMP, ' 2026-11-02T10:15:00Z', '2026-11-02T10:15:00Z '),
    ...bad('transferable', 'must be boolean or null', 'true', 1),
    ...bad('listPrice', 'must be number or null', '45', '', [45]),
    ...UNHELD.map((number): BadLine => [
      unquoted(ticket(`long ${number}`, { vat: number })),
      'vat',
      `must be number or null ${HELD}`,
    ]),
    [unquoted(ticket('long', { invoiceReference: UNHELD[0] })), 'invoiceReference', 'must be string or null'],
    [{ customer: { email: [] } }, 'customer.email', 'must be string or null'],
    [{ attendeeForm: { submittedAt: 'now' } }, 'attendeeForm.submittedAt', TIMESTAMP],
    [
      { attendeeForm: { responses: [{}, { value: ['a', null] }] } },
      'attendeeForm.responses[1].value[1]',
      'must be string',
    ],
    ...bad('ticketId', 'must be unique', 'good'),
  ],
  orders: [
    ...OF_COLLECTIONS,
    ...bad('orderId', DOTS, '.', '..'),
    ...identifiers('orderId'),
    ...timestamps(TIMESTAMP, 'createdAt', 'updatedAt', 'fulfilledAt', 'cancelledAt'),
    ...bad('status', 'must be one of PENDING, FULFILLED, CANCELLED', 'PAID', 'pending', ''),
    [{ customer: { customerId: 'c' } }, 'customer.email', `is missing${OMITTED}`],
    [{ customer: { customerId: 'c', email: null } }, 'customer.email', `must be string${OMITTED}`],
    [billed({ type: 'home' }), 'billingAddress.type', 'must be one of personal, company'],
    [billed({ city: 5 }), 'billingAddress.city', 'must be string'],
    [{ delivery: { type: 'drone' } }, 'delivery.type', 'must be one of home_delivery, pickup_point, on_site'],
    [
      { delivery: { type: 'on_site', pickupPoint: 'here' } },
      'delivery.pickupPoint',
      'must be object or null',
    ],
    ...UNHELD.map((number): BadLine => [
      unquoted(
        order(`long ${number}`, { delivery: { type: 'on_site', pickupPoint: { at: [{ lat: number }] } } }),
      ),
      'delivery.pickupPoint',
      `must have no number but one ${HELD}; write others as texts`,
    ]),
    [
      unquoted(order('long', { placedItems: [{ quantity: UNHELD[0] }] })),
      'placedItems[0].quantity',
      `must be integer or null ${HELD}`,
    ],
    [{ placedItems: [{}, { quantity: 1e300 }] }, 'placedItems[1].quantity', UNREAD],
    [{ placedItems: [{}, { quantity: 1.5 }] }, 'placedItems[1].quantity', 'must be integer or null'],
    [{ placedItems: [null] }, 'placedItems[0]', 'must be object'],
    [{ optIns: [{ accepted: 'yes' }] }, 'optIns[0].accepted', 'must be boolean or null'],
    [{ paymentMethod: 'x'.repeat(2 ** 20) }, '', 'must not be a record of more than 1048576 bytes'],
    ...bad('orderId', 'must be unique', 'good'),
  ],
  offers: [
    ...OF_COLLECTIONS,
    ...bad('offerId', DOTS, '.', '..'),
    ...identifiers('offerId', 'eventId'),
    ...timestamps(TIMESTAMP, 'createdAt'),
    ...bad('type', 'must be one of TICKET, PRODUCT, BUNDLE', 'ticket', 'GIFT', '', '__proto__'),
    ...bad('heldByEventIds', 'must be array or null', 'evt'),
    [{ pricing }, 'pricing[1].resaleEnabled', 'must be boolean'],
    [
      lineOf(offer('b', 'BUNDLE', { contains: [{ offerId: 'o', quantity: '2', price: 1 }] })),
      'contains[0].quantity',
      'must be integer',
    ],
    [lineOf(offer('p', 'PRODUCT', { heldByEventIds: ['a', 2] })), 'heldByEventIds[1]', 'must be string'],
    [lineOf(offer('good', 'BUNDLE')), 'offerId', 'must be unique'],
  ],
};
const badLine = (file: FileName, line: BadLine[0], i: number) =>
  typeof line === 'string' || Buffer.isBuffer(line) ? line : { ...make[file](`bad_${i}`), ...line };
/** Reasons that follow from another line if any line of its file cannot be read. */
const OF_OTHER_LINES = [
  'must be in organizations.ndjson',
  'must have a session',
  'must be an event of the organization',
];
/** Returns an import with good lines before and after some bad ones, and the groups of these. */
function badImport(isChosen: (reason: string) => boolean) {
  const groups: Partial<ProblemGroup>[] = [];
  const files = FILES.map((file) => {
    const chosen = BAD[file].filter(([, , reason]) => isChosen(reason));
    const problems = chosen.map(([, field, reason], i) => {
      const key = { file: `${file}.ndjson`, field: field.replace(/\[\d+\]/g, '[]'), reason };
      return { ...key, first: GOOD[file].length + 1 + i };
    });
    const byProblem = Map.groupBy(problems, ({ field, reason }) => `${field} ${reason}`);
    groups.push(...Array.from(byProblem.values(), (ofGroup) => ({ ...ofGroup[0], lines: ofGroup.length })));
    const after = file === 'events' || file === 'organizations' ? [] : [make[file]('after')];
    return [file, [...GOOD[file], ...chosen.map(([line], i) => badLine(file, line, i)), ...after]];
  });
  return { files: Object.fromEntries(files) as Import, groups };
}

describe('A bad line of the import', () => {
  const { errorOf, rejectionOf } = new Builds();

  for (const [what, isChosen] of [
    ['alone', (reason: string) => !OF_OTHER_LINES.includes(reason)],
    ['beside other lines', (reason: string) => OF_OTHER_LINES.includes(reason)],
  ] as const) {
    const { files, groups } = badImport(isChosen);
    let found: readonly ProblemGroup[] = [];
    before(async () => {
      found = (await errorOf(ImportRejected, files)).groups;
    });
    for (const group of groups) {
      const { file, field, reason = '', lines, first } = group;
      it(`${what} is reported: ${file}, ${field}: ${reason.slice(0, 60)}`, () => {
        const same = found.find((one) => one.file === file && one.field === field && one.reason === reason);
        expect(same).to.include({ lines, first });
      });
    }
    it(`${what} is reported with its own problems only`, () => {
      expect(found).to.have.length(groups.length);
    });
  }

  it('has dependents, which count: the sessions of a bad event, and an event with bad sessions only', async () => {
    const files = {
      organizations: [{ organizationId: 'o' }],
      events: [event('a', { tags: 'rock' }), event('b'), event('c')],
      sessions: [
        session('a1', 'a'),
        session('b1', 'b', { startAt: 'never' }),
        session('a2', 'a'),
        session('c1', 'c'),
        session('c2', 'c', { durationMinutes: 'long' }),
      ],
    };
    expect(await rejectionOf(files)).to.deep.include({
      message: 'the import contains 6 bad lines, 3 of them only because of others',
      groups: [
        'events.ndjson: tags must be array or null, found "rock": line 1',
        `sessions.ndjson: startAt ${TIMESTAMP}, found "never": line 2`,
        'sessions.ndjson: durationMinutes must be integer, found "long": line 5',
      ],
    });
  });
});

describe('The groups of bad lines', () => {
  const { rejectionOf } = new Builds();
  const good = {
    organizations: [{ organizationId: 'o' }],
    events: [event('evt')],
    sessions: [session('ses', 'evt')],
  };
  const betweenLines = {
    organizations: good.organizations,
    events: ['a', 'a', 'lonely'].map((id) => event(id, { tags: 'rock' })),
    sessions: [
      ['s', 'a'],
      ['t', 'nowhere'],
      ['s', 'a'],
    ].map(([id, eventId]) => session(id, eventId, { durationMinutes: '90' })),
    tickets: ['t', 'u', 't'].map((id, i) => ticket(id, i === 0 ? { vat: '1' } : {})),
  };
  const tickets = [ticket('t'), recordsIn('else').ticket('u')];

  /** The groups of imports, as the command prints them. */
  for (const [what, files, ...groups] of [
    [
      'have all reasons of each line, over all files, and count a line once however many list elements are bad',
      {
        ...good,
        orders: times(3000, (i) =>
          order(`o${i}`, {
            totalPrice: `${i}.50`,
            placedItems: [{}, { quantity: 'two' }, { quantity: 'three' }],
          }),
        ),
        tickets: times(20_000, (i) => ticket(`t${i}`, i === 4711 ? { vat: true } : { orderId: undefined })),
      },
      'tickets.ndjson: orderId is missing: 19,999 lines, first: 1',
      'tickets.ndjson: vat must be number or null, found true: line 4712',
      'orders.ndjson: totalPrice must be number or null, found "0.50": 3,000 lines, first: 1',
      'orders.ndjson: placedItems[].quantity must be integer or null, found "two": 3,000 lines, first: 1',
    ],
    [
      'have the problems of an offer besides its type',
      // In capitals, the type would be a variant, whose fields are checked.
      {
        ...good,
        offers: [
          offer('off_0', 'PRODUCT', { createdAt: 'now', type: undefined }),
          offer('off_1', 'TICKET', { createdAt: 'now', type: 'ticket', eventId: 5 }),
        ],
      },
      'offers.ndjson: type must be one of TICKET, PRODUCT, BUNDLE: 2 lines, first: 1',
      `offers.ndjson: createdAt ${TIMESTAMP}, found "now": 2 lines, first: 1`,
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
      "organizations.ndjson: the line must be a JSON object, found Expected ',' or '}' after property value at column 22: line 1",
    ],
    [
      'lack the records of unknown organizations when an organization has no id',
      { organizations: [{ name: 'o' }, { organizationId: 'p' }], tickets },
      'organizations.ndjson: organizationId is missing: line 1',
    ],
    [
      'lack the sessions of events that cannot be read',
      { ...good, events: ['id,title', 'evt,Concert'], sessions: [session('a', 'evt'), session('b', 'evt')] },
      'events.ndjson: the line must be a JSON object: convert CSV to NDJSON, see docs/data.md, found id,title: 2 lines, first: 1',
    ],
    [
      'lack an event whose sessions cannot be read',
      { ...good, sessions: ['', "{'id':'ses'}"] },
      "sessions.ndjson: the line must be a JSON object, found Expected property name or '}' at column 2: line 2",
    ],
    [
      'lack an event whose sessions have ids of others',
      {
        ...good,
        events: [event('evt'), event('later')],
        sessions: [session('ses', 'evt'), session('ses', 'later')],
      },
      'sessions.ndjson: id must be unique, found "ses" also on line 1: line 2',
    ],
  ] satisfies [string, Import, ...string[]][]) {
    it(what, async () => {
      expect((await rejectionOf(files)).groups).to.deep.equal(groups);
    });
  }
});
