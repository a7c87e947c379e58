import {
  inOrganization,
  minimalEvent,
  minimalOffer,
  minimalOrder,
  minimalPricing,
  minimalSession,
  minimalTicket,
} from '../../support/records.ts';
import { type FileName, type ImportRecord, toLine } from '../../support/import-folder.ts';

/** A bad line of a file, with the field and the reason of its rejection. */
export type BadLine = readonly [
  file: FileName,
  line: ImportRecord | string | Buffer,
  field: string,
  reason: string | RegExp,
];

export const ours = inOrganization('o');
const TIMESTAMP = /^must be an ISO 8601 date and time with Z or an offset, such as /;
const YEARS = / years 0000 to 9999 in UTC$/;
const TIME_ZONE = /^must be a region and city of the IANA time zone database, such as /;
/** The field has a value, or a text of a form. */
const OF_A_VALUE = /^must be (string$|integer$|number$|one of |an ISO 8601 |a region and city )/;
const ORGANIZATION_ID_RULE = 'must be 1 to 128 characters of visible ASCII without ":"';
const DELIVERY_TYPE = 'must be one of home_delivery, pickup_point, on_site';
const IDENTIFIER = 'must be well-formed text that is not empty';
const NO_EVENT = 'must be an event of the organization';
const NO_OBJECT = /^must be (a|one whole) JSON object/;
export const NOT_UTF8 = 'must be UTF-8; a file compressed by gzip is named .ndjson.gz';

/** Makes a good record of each file, with the given id. */
export const GOOD: Readonly<Record<FileName, (id: string) => ImportRecord>> = {
  organizations: (id) => ({ organizationId: id }),
  events: (id) => ours(minimalEvent(id)),
  sessions: (id) => ours(minimalSession(id, 'evt')),
  tickets: (id) => ours(minimalTicket(id)),
  orders: (id) => ours(minimalOrder(id)),
  offers: (id) => ours(minimalOffer(id, 'TICKET')),
};
export const FILES = Object.keys(GOOD) as FileName[];
let made = 0;
const newRecord = (file: FileName, more: ImportRecord): ImportRecord => ({
  ...GOOD[file](`bad_${made++}`),
  ...more,
});
/** Makes a bad line for each bad value of a field. */
const bad = (file: FileName, field: string, reason: string | RegExp, ...values: unknown[]): BadLine[] =>
  values.map((value) => [file, newRecord(file, { [field]: value }), field, reason]);
const venue = { addressLine1: 'a', city: 'b', postalCode: 'c', countryCode: 'd' };
const { addressLine1, ...withoutLine } = { type: 'personal', ...venue };
const billed = (more: ImportRecord) => ({ billingAddress: { ...withoutLine, addressLine1, ...more } });

const responses = [{}, { value: ['a', null] }];
const toHome = { type: 'on_site', homeDeliveryAddress: withoutLine };
const here = { type: 'on_site', pickupPoint: 'here' };
const pricing = [minimalPricing('p'), minimalPricing('q', { resaleEnabled: 'no' })];
const contains = [{ offerId: 'o', quantity: '2', price: 1 }];
const heldByEventIds = ['a', 2];

const COLLECTION_FILES = ['events', 'sessions', 'tickets', 'orders', 'offers'] as const;
const IDENTIFIERS = {
  events: ['id'],
  sessions: ['id', 'eventId'],
  tickets: ['ticketId', 'eventId', 'eventSessionId', 'orderId', 'qrCode'],
  orders: ['orderId'],
  offers: ['offerId', 'eventId'],
};
const TIMESTAMPS = {
  events: ['createdAt', 'updatedAt'],
  sessions: ['startAt'],
  tickets: ['issuedAt', 'updatedAt', 'cancelledAt', 'eventSessionStartAt'],
  orders: ['createdAt', 'updatedAt', 'fulfilledAt', 'cancelledAt'],
  offers: ['createdAt'],
};

export const BAD_LINES: readonly BadLine[] = [
  ...FILES.flatMap((file): BadLine[] => [
    [file, 'hello', '', NO_OBJECT],
    [file, toLine(GOOD[file]('cut')).slice(0, -1), '', NO_OBJECT],
    [file, `${toLine(GOOD[file]('two')).toString()},`, '', NO_OBJECT],
    ...['[]', '"text"', '17', 'null', 'true'].map((line): BadLine => [file, line, '', NO_OBJECT]),
    [file, Buffer.from(toLine(GOOD[file]('caf\u00e9')).toString(), 'latin1'), '', NOT_UTF8],
    [file, Buffer.from([0xed, 0xa0, 0x80]), '', NOT_UTF8],
    // The good records have the required fields alone.
    ...Object.keys(GOOD[file]('')).flatMap((field): BadLine[] => {
      const without = () =>
        Object.fromEntries(Object.entries(newRecord(file, {})).filter(([name]) => name !== field));
      const isType = field === 'type';
      return [
        [file, without(), field, isType ? 'must be one of TICKET, PRODUCT, BUNDLE' : 'is missing'],
        [file, { ...without(), [field]: null }, field, isType ? /^must be one of / : OF_A_VALUE],
        [file, { ...without(), [field]: [] }, field, OF_A_VALUE],
      ];
    }),
  ]),

  ...bad('organizations', 'organizationId', IDENTIFIER, '', '\ud800'),
  ...bad('organizations', 'organizationId', ORGANIZATION_ID_RULE, 'a:b', 'x'.repeat(129)),
  ...bad('organizations', 'name', 'must be string or null', 5, ['a']),
  ['organizations', { organizationId: 'o' }, 'organizationId', 'must be unique'],

  ...COLLECTION_FILES.flatMap((file) => [
    ...bad(file, 'organizationId', 'must be in organizations.ndjson', 'unknown', 'a:b'),
    ...IDENTIFIERS[file].flatMap((field) => bad(file, field, IDENTIFIER, '', 'half \ud83c', '\udfad half')),
    // The test of timestamps has all invalid forms.
    ...TIMESTAMPS[file].flatMap((field) => bad(file, field, TIMESTAMP, '2026-11-02', '2026-02-30T00:00:00Z')),
  ]),
  ...bad('tickets', 'issuedAt', TIMESTAMP, 1, null, '', '2026-W45-1T10:15:00Z', '12026-11-02T10:15:00Z'),
  ...bad('tickets', 'issuedAt', TIMESTAMP, ' 2026-11-02T10:15:00Z', '2026-11-02T10:15:00Z '),
  ...bad('tickets', 'cancelledAt', TIMESTAMP, ''),
  ...bad('events', 'updatedAt', YEARS, '9999-12-31T23:59:59-00:01', '0000-01-01T00:00:00+00:01'),

  ...bad('events', 'eventTimezone', TIME_ZONE, '', 'Mars/Olympus', 'EST', 'europe/paris', 'Europe/Paris '),
  ...bad('events', 'eventTimezone', TIME_ZONE, '+01:00', '-0300'),
  ...bad('events', 'tags', 'must be array or null', 'rock', { 0: 'rock' }),
  ...bad('events', 'venueAddress', 'must be object or null', 'rue', []),
  ...bad('sessions', 'durationMinutes', 'must be integer', '110', 1.5, true),
  ...bad('tickets', 'transferable', 'must be boolean or null', 'true', 1),
  ...bad('tickets', 'listPrice', 'must be number or null', '45', '', [45]),
  ...bad('orders', 'status', 'must be one of PENDING, FULFILLED, CANCELLED', 'PAID', 'pending', ''),
  ...bad('offers', 'type', 'must be one of TICKET, PRODUCT, BUNDLE', 'ticket', 'GIFT', '', '__proto__'),
  ...bad('offers', 'heldByEventIds', 'must be array or null', 'evt'),
  [
    'tickets',
    String(toLine(newRecord('tickets', { vat: '@' }))).replace('"@"', '1e999'),
    'vat',
    'must be number or null',
  ],

  ...(
    [
      ['events', { tags: ['a', 1] }, 'tags[1]', 'must be string'],
      ['events', { venueAddress: { ...venue, city: 3 } }, 'venueAddress.city', 'must be string'],
      ['tickets', { customer: { email: [] } }, 'customer.email', 'must be string or null'],
      ['tickets', { attendeeForm: { submittedAt: 'now' } }, 'attendeeForm.submittedAt', TIMESTAMP],
      ['tickets', { attendeeForm: { responses } }, 'attendeeForm.responses[1].value[1]', 'must be string'],
      ['orders', { customer: { customerId: 'c' } }, 'customer.email', 'is missing'],
      ['orders', { customer: { customerId: null, email: 'e' } }, 'customer.customerId', 'must be string'],
      ['orders', billed({ type: 'home' }), 'billingAddress.type', 'must be one of personal, company'],
      ['orders', billed({ city: null }), 'billingAddress.city', 'must be string'],
      ['orders', { delivery: {} }, 'delivery.type', 'is missing'],
      ['orders', { delivery: { type: 'drone' } }, 'delivery.type', DELIVERY_TYPE],
      ['orders', { delivery: toHome }, 'delivery.homeDeliveryAddress.addressLine1', 'is missing'],
      ['orders', { delivery: here }, 'delivery.pickupPoint', 'must be object or null'],
      [
        'orders',
        { placedItems: [{}, { quantity: 1.5 }] },
        'placedItems[1].quantity',
        'must be integer or null',
      ],
      ['orders', { placedItems: [null] }, 'placedItems[0]', 'must be object'],
      ['orders', { optIns: [{ accepted: 'yes' }] }, 'optIns[0].accepted', 'must be boolean or null'],
      [
        'orders',
        { paymentMethod: 'x'.repeat(2 ** 20) },
        '',
        'must not be a record of more than 1048576 bytes',
      ],
      ['offers', { pricing }, 'pricing[1].resaleEnabled', 'must be boolean'],
      ['offers', minimalOffer('b', 'BUNDLE', { contains }), 'contains[0].quantity', 'must be integer'],
      ['offers', minimalOffer('p', 'PRODUCT', { heldByEventIds }), 'heldByEventIds[1]', 'must be string'],
    ] as const
  ).map(([file, more, path, reason]): BadLine => [file, newRecord(file, more), path, reason]),

  ['events', GOOD.events('evt'), 'id', 'must be unique'],
  ['events', GOOD.events('lonely'), 'id', 'must have a session'],
  ['sessions', GOOD.sessions('good'), 'id', 'must be unique'],
  ['sessions', ours(minimalSession('astray', 'nowhere')), 'eventId', NO_EVENT],
  ['sessions', ours(minimalSession('foreign', 'evt_theirs')), 'eventId', NO_EVENT],
  ['tickets', GOOD.tickets('good'), 'ticketId', 'must be unique'],
  ['orders', GOOD.orders('good'), 'orderId', 'must be unique'],
  ['offers', GOOD.offers('good'), 'offerId', 'must be unique'],
  ['offers', ours(minimalOffer('good', 'BUNDLE')), 'offerId', 'must be unique'],
];

/** The good lines before the bad ones of each file. */
export const GOOD_BEFORE: Readonly<Record<FileName, readonly ImportRecord[]>> = {
  organizations: [{ organizationId: 'o' }, { organizationId: 'theirs' }],
  events: [GOOD.events('evt'), inOrganization('theirs')(minimalEvent('evt_theirs'))],
  sessions: [GOOD.sessions('good'), inOrganization('theirs')(minimalSession('good', 'evt_theirs'))],
  tickets: [GOOD.tickets('good'), inOrganization('theirs')(minimalTicket('good'))],
  orders: [GOOD.orders('good'), inOrganization('theirs')(minimalOrder('good'))],
  offers: [GOOD.offers('good'), inOrganization('theirs')(minimalOffer('good', 'PRODUCT'))],
};
/** Returns the bad lines of a file, in their order. */
export const badLinesOf = (file: FileName) => BAD_LINES.filter(([name]) => name === file);
/** An import with good lines before and after the bad ones. */
export const BAD_IMPORT = Object.fromEntries(
  FILES.map((file) => [
    file,
    [
      ...GOOD_BEFORE[file],
      ...badLinesOf(file).map(([, line]) => line),
      ...(file === 'events' || file === 'organizations' ? [] : [GOOD[file]('after')]),
    ],
  ]),
);
