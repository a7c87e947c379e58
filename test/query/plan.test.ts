import { expect } from 'chai';
import { type ListOperation, OPERATIONS } from '../../src/contract/operations.ts';
import { type Plan, planList } from '../../src/query/plan.ts';
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

const EVERYTHING = { where: [], page: 1, perPage: 25 };
/** 2026-11-21T12:00:00Z in microseconds. */
const NOON = 1_795_262_400_000_000n;

describe('The plan of a list', () => {
  for (const [operationId, collection] of [
    ['listEvents', 'events'],
    ['listEventSessions', 'sessions'],
    ['listTickets', 'tickets'],
    ['listOrders', 'orders'],
    ['listOffers', 'offers'],
  ]) {
    it(`without parameters is the first page of all ${collection}`, () => {
      expect(plan(operationId, {})).to.deep.equal({ ...EVERYTHING, collection });
    });
  }

  it('has page and perPage as numbers', () => {
    expect(plan('listTickets', { page: '0012', perPage: '100' })).to.deep.equal({
      ...EVERYTHING,
      collection: 'tickets',
      page: 12,
      perPage: 100,
    });
  });

  it('limits a page to the largest safe integer', () => {
    const { MAX_SAFE_INTEGER: most } = Number;
    expect(plan('listTickets', { page: '9'.repeat(400) })).to.have.property('page', most);
  });

  it('has each listed key once, as written in the request', () => {
    expect(plan('listTickets', { eventIds: 'b, a ,b,É', qrCodes: 'Q+1' }).where).to.deep.equal([
      { match: 'anyOf', index: 'eventId', keys: ['b', ' a ', 'É'] },
      { match: 'anyOf', index: 'qrCode', keys: ['Q+1'] },
    ]);
  });

  it('names the index of each list filter of a ticket', () => {
    const { where } = plan('listTickets', { eventIds: 'e', sessionIds: 's', qrCodes: 'q', orderIds: 'o' });
    expect(where).to.deep.equal([
      { match: 'anyOf', index: 'eventId', keys: ['e'] },
      { match: 'anyOf', index: 'eventSessionId', keys: ['s'] },
      { match: 'anyOf', index: 'qrCode', keys: ['q'] },
      { match: 'anyOf', index: 'orderId', keys: ['o'] },
    ]);
  });

  it('has tags in their comparable form', () => {
    expect(
      plan('listEvents', { tags: ' THE\u0301A\u0302TRE ,théâtre,Hip \t Hop,hiphop' }).where,
    ).to.deep.equal([{ match: 'anyOf', index: 'tag', keys: ['théâtre', 'hip hop', 'hiphop'] }]);
  });

  it('keeps a single key whole, with its commas', () => {
    expect(plan('listOffers', { eventId: 'a,b', type: 'BUNDLE' }).where).to.deep.equal([
      { match: 'anyOf', index: 'eventId', keys: ['a,b'] },
      { match: 'anyOf', index: 'type', keys: ['BUNDLE'] },
    ]);
  });

  it('has an e-mail address in lower case, and a status unchanged', () => {
    expect(plan('listOrders', { email: 'Zoé+A@Example.ORG', status: 'PENDING' }).where).to.deep.equal([
      { match: 'anyOf', index: 'status', keys: ['PENDING'] },
      { match: 'anyOf', index: 'email', keys: ['zoé+a@example.org'] },
    ]);
  });

  for (const [bound, window] of [
    ['gte', { from: NOON }],
    ['gt', { from: NOON + 1n }],
    ['lte', { until: NOON + 1n }],
    ['lt', { until: NOON }],
  ] as const) {
    it(`has a window for startAt.${bound}`, () => {
      expect(
        plan('listEventSessions', { [`startAt.${bound}`]: '2026-11-21T13:00+01:00' }).where,
      ).to.deep.equal([{ match: 'window', index: 'startAt', ...window }]);
    });
  }

  it('has one window for both bounds, so that one session must lie in it', () => {
    const values = { 'startAt.gte': '2026-11-21T12:00:00Z', 'startAt.lte': '2026-11-21T12:00:00.0000029Z' };
    expect(plan('listEvents', values).where).to.deep.equal([
      { match: 'window', index: 'startAt', from: NOON, until: NOON + 3n },
    ]);
  });

  it('has the narrower of two bounds on the same side', () => {
    const [noon, later] = ['2026-11-21T12:00:00Z', '2026-11-21T12:00:00.000001Z'];
    const window = (gt: string, gte: string, lt: string, lte: string) =>
      plan('listEventSessions', {
        'startAt.gt': gt,
        'startAt.gte': gte,
        'startAt.lt': lt,
        'startAt.lte': lte,
      }).where;
    expect(window(noon, noon, later, later)).to.deep.equal([
      { match: 'window', index: 'startAt', from: NOON + 1n, until: NOON + 1n },
    ]);
    expect(window(noon, later, later, noon)).to.deep.equal([
      { match: 'window', index: 'startAt', from: NOON + 1n, until: NOON + 1n },
    ]);
    expect(window(later, noon, noon, later)).to.deep.equal([
      { match: 'window', index: 'startAt', from: NOON + 2n, until: NOON },
    ]);
    const muchLater = '2026-11-21T12:00:00.000009Z';
    expect(window(noon, muchLater, muchLater, noon)).to.deep.equal([
      { match: 'window', index: 'startAt', from: NOON + 9n, until: NOON + 1n },
    ]);
  });

  it('keeps a window with crossed bounds, which is empty', () => {
    const values = { 'updatedAt.gte': '2026-11-21T12:00:00.5Z', 'updatedAt.lte': '2026-11-21T12:00:00Z' };
    expect(plan('listOrders', values).where).to.deep.equal([
      { match: 'window', index: 'updatedAt', from: NOON + 500_000n, until: NOON + 1n },
    ]);
  });

  it('cuts inventory without selecting offers by it', () => {
    expect(plan('listOffers', { sessionId: 'ses_1' })).to.deep.equal({
      ...EVERYTHING,
      collection: 'offers',
      view: { inventoryOf: 'ses_1' },
    });
  });

  for (const [text, resaleEnabled] of [
    ['true', true],
    ['false', false],
  ] as const) {
    it(`selects by resaleEnabled=${text}, and cuts the pricings`, () => {
      expect(plan('listOffers', { resaleEnabled: text })).to.deep.equal({
        ...EVERYTHING,
        collection: 'offers',
        where: [{ match: 'anyOf', index: 'resaleEnabled', keys: [text] }],
        view: { resaleEnabled },
      });
    });
  }

  it('combines all filters', () => {
    const values = {
      page: '2',
      perPage: '3',
      'createdAt.gte': '2026-11-21T12:00:00Z',
      eventId: 'evt',
      sessionId: 'ses',
      type: 'TICKET',
      resaleEnabled: 'false',
    };
    expect(plan('listOffers', values)).to.deep.equal({
      collection: 'offers',
      where: [
        { match: 'anyOf', index: 'eventId', keys: ['evt'] },
        { match: 'anyOf', index: 'type', keys: ['TICKET'] },
        { match: 'anyOf', index: 'resaleEnabled', keys: ['false'] },
        { match: 'window', index: 'createdAt', from: NOON },
      ],
      view: { inventoryOf: 'ses', resaleEnabled: false },
      page: 2,
      perPage: 3,
    });
  });

  it('does not depend on the order of parameters, nor on unknown names', () => {
    const one = plan('listTickets', { eventIds: 'a', orderIds: 'b', 'updatedAt.lte': '2026-11-21T12:00Z' });
    const other = plan('listTickets', {
      'updatedAt.lte': '2026-11-21T12:00Z',
      status: 'x',
      orderIds: 'b',
      eventIds: 'a',
    });
    expect(one).to.deep.equal(other);
  });

  it('refuses unvalidated values', () => {
    const values = { 'updatedAt.gte': 'yesterday' };
    expect(() => planList(listOperation('listTickets'), values)).to.throw(TypeError, 'yesterday');
  });
});
