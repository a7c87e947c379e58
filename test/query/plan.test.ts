import { expect } from 'chai';
import { type ListOperation, OPERATIONS } from '../../src/contract/operations.ts';
import { type Plan, planList, type Predicate } from '../../src/query/plan.ts';
import { readValues } from '../support/oracle/read-values.ts';

function listOperation(operationId: string): ListOperation {
  const operation = OPERATIONS.find(({ id }) => id === operationId);
  if (operation?.kind !== 'list') throw new TypeError(`${operationId} is no list`);
  return operation;
}

function plan(operationId: string, values: Readonly<Record<string, string>>): Plan {
  const operation = listOperation(operationId);
  return planList(operation, readValues(operation, Object.entries(values)) ?? {});
}

const FIRST_PAGE = { where: [], page: 1, perPage: 25 };
/** 2026-11-21T12:00:00Z in microseconds. */
const NOON = 1_795_262_400_000_000n;

const anyOf = (index: string, ...keys: string[]): Predicate => ({ match: 'anyOf', index, keys });
const window = (index: string, bounds: { from?: bigint; until?: bigint }): Predicate => {
  return { match: 'window', index, ...bounds };
};

/** Time stamps by the microseconds after noon. */
const at = (microseconds: number) => `2026-11-21T12:00:00.00000${microseconds}Z`;
const startsWithin = (gt: number, gte: number, lt: number, lte: number) => ({
  ...{ 'startAt.gt': at(gt), 'startAt.gte': at(gte) },
  ...{ 'startAt.lt': at(lt), 'startAt.lte': at(lte) },
});

describe('The plan of a list', () => {
  for (const [what, operationId, values, expected] of [
    ['is the first page of all events', 'listEvents', {}, { collection: 'events' }],
    ['is the first page of all sessions', 'listEventSessions', {}, { collection: 'sessions' }],
    ['is the first page of all tickets', 'listTickets', {}, { collection: 'tickets' }],
    ['is the first page of all orders', 'listOrders', {}, { collection: 'orders' }],
    ['is the first page of all offers', 'listOffers', {}, { collection: 'offers' }],
    [
      'has page and perPage as numbers',
      'listTickets',
      { page: '0012', perPage: '100' },
      { collection: 'tickets', page: 12, perPage: 100 },
    ],
    [
      'limits a page to the largest safe integer',
      'listTickets',
      { page: '9'.repeat(400) },
      { collection: 'tickets', page: Number.MAX_SAFE_INTEGER },
    ],
    [
      'cuts inventory without selecting offers by it',
      'listOffers',
      { sessionId: 'ses_1' },
      { collection: 'offers', view: { inventoryOf: 'ses_1' } },
    ],
    ...([true, false] as const).map((resaleEnabled) => {
      const values = { resaleEnabled: String(resaleEnabled) };
      const where = [anyOf('resaleEnabled', String(resaleEnabled))];
      const expected = { collection: 'offers', where, view: { resaleEnabled } } as const;
      return ['selects by resaleEnabled, and cuts the pricings', 'listOffers', values, expected] as const;
    }),
    [
      'combines all filters',
      'listOffers',
      {
        ...{ page: '2', perPage: '3', 'createdAt.gte': at(0), eventId: 'evt', sessionId: 'ses' },
        ...{ type: 'TICKET', resaleEnabled: 'false' },
      },
      {
        collection: 'offers',
        where: [
          ...[anyOf('eventId', 'evt'), anyOf('type', 'TICKET'), anyOf('resaleEnabled', 'false')],
          window('createdAt', { from: NOON }),
        ],
        view: { inventoryOf: 'ses', resaleEnabled: false },
        ...{ page: 2, perPage: 3 },
      },
    ],
  ] satisfies (readonly [string, string, Record<string, string>, Partial<Plan>])[]) {
    it(`${what}: ${operationId} ${JSON.stringify(values).slice(0, 100)}`, () => {
      expect(plan(operationId, values)).to.deep.equal({ ...FIRST_PAGE, ...expected });
    });
  }

  for (const [what, operationId, values, ...where] of [
    [
      'has each listed key once, as written in the request',
      'listTickets',
      { eventIds: 'b, a ,b,É', qrCodes: 'Q+1' },
      anyOf('eventId', 'b', ' a ', 'É'),
      anyOf('qrCode', 'Q+1'),
    ],
    [
      'names the index of each list filter of a ticket, and ignores unknown names',
      'listTickets',
      { orderIds: 'o', qrCodes: 'q', sessionIds: 's', eventIds: 'e', status: 'x' },
      ...[anyOf('eventId', 'e'), anyOf('eventSessionId', 's'), anyOf('qrCode', 'q'), anyOf('orderId', 'o')],
    ],
    [
      'has tags in their comparable form',
      'listEvents',
      { tags: ' THE\u0301A\u0302TRE ,théâtre,Hip \t Hop,hiphop' },
      anyOf('tag', 'théâtre', 'hip hop', 'hiphop'),
    ],
    [
      'keeps a single key whole, with its commas',
      'listOffers',
      { eventId: 'a,b', type: 'BUNDLE' },
      anyOf('eventId', 'a,b'),
      anyOf('type', 'BUNDLE'),
    ],
    [
      'has an e-mail address in lower case, and a status unchanged',
      'listOrders',
      { email: 'Zoé+A@Example.ORG', status: 'PENDING' },
      anyOf('status', 'PENDING'),
      anyOf('email', 'zoé+a@example.org'),
    ],
    ...(
      [
        ['gte', { from: NOON }],
        ['gt', { from: NOON + 1n }],
        ['lte', { until: NOON + 1n }],
        ['lt', { until: NOON }],
      ] as const
    ).map(([bound, bounds]) => {
      const values = { [`startAt.${bound}`]: '2026-11-21T13:00+01:00' };
      return ['has a window', 'listEventSessions', values, window('startAt', bounds)] as const;
    }),
    [
      'has one window for both bounds, so that one session must lie in it',
      'listEvents',
      { 'startAt.gte': at(0), 'startAt.lte': '2026-11-21T12:00:00.0000029Z' },
      window('startAt', { from: NOON, until: NOON + 3n }),
    ],
    ...(
      [
        [startsWithin(0, 0, 1, 1), { from: NOON + 1n, until: NOON + 1n }],
        [startsWithin(0, 1, 1, 0), { from: NOON + 1n, until: NOON + 1n }],
        [startsWithin(1, 0, 0, 1), { from: NOON + 2n, until: NOON }],
        [startsWithin(0, 9, 9, 0), { from: NOON + 9n, until: NOON + 1n }],
      ] as const
    ).map(([values, bounds]) => {
      const what = 'has the narrower of two bounds on the same side';
      return [what, 'listEventSessions', values, window('startAt', bounds)] as const;
    }),
    [
      'keeps a window with crossed bounds, which is empty',
      'listOrders',
      { 'updatedAt.gte': at(5), 'updatedAt.lte': at(0) },
      window('updatedAt', { from: NOON + 5n, until: NOON + 1n }),
    ],
  ] satisfies (readonly [string, string, Record<string, string>, ...Predicate[]])[]) {
    it(`${what}: ${operationId} ${JSON.stringify(values)}`, () => {
      expect(plan(operationId, values).where).to.deep.equal(where);
    });
  }

  it('refuses unvalidated values', () => {
    const values = { 'updatedAt.gte': 'yesterday' };
    expect(() => planList(listOperation('listTickets'), values)).to.throw(TypeError, 'yesterday');
  });
});
