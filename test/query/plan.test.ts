import { expect } from 'chai';
import { planList } from '../../src/query/plan.ts';
import { listOperation, readValues } from '../support/oracle/read-values.ts';

function plan(operationId: string, texts: Readonly<Record<string, string>>) {
  const operation = listOperation(operationId);
  return planList(operation, readValues(operation, Object.entries(texts)) ?? {});
}

/** 2026-11-21T12:00:00Z in microseconds. */
const NOON = 1_795_262_400_000_000n;

/** The comparison of pages with the oracle's proves that each parameter has its predicate. */
describe('The plan of a list', () => {
  it('has the predicates, the view and the page of its parameters', () => {
    const texts = {
      ...{ page: '2', perPage: '3', 'createdAt.lte': '2026-11-21T13:00+01:00', eventId: 'a,b' },
      ...{ sessionId: 'ses', type: 'TICKET', resaleEnabled: 'false' },
    };
    expect(plan('listOffers', texts)).to.deep.equal({
      collection: 'offers',
      where: [
        { match: 'anyOf', index: 'eventId', keys: ['a,b'] },
        { match: 'anyOf', index: 'type', keys: ['TICKET'] },
        { match: 'anyOf', index: 'resaleEnabled', keys: ['false'] },
        { match: 'window', index: 'createdAt', until: NOON + 1n },
      ],
      view: { inventoryOf: 'ses', resaleEnabled: false },
      page: 2,
      perPage: 3,
    });
  });

  it('has each key of a list once, in the form of the index', () => {
    const keysOf = (operationId: string, texts: Readonly<Record<string, string>>) =>
      plan(operationId, texts).where.map((predicate) => predicate.match === 'anyOf' && predicate.keys);
    expect(keysOf('listTickets', { eventIds: 'b, a ,b,É' })).to.deep.equal([['b', ' a ', 'É']]);
    const tags = ' THE\u0301A\u0302TRE ,théâtre,Hip \t Hop,hiphop';
    expect(keysOf('listEvents', { tags })).to.deep.equal([['théâtre', 'hip hop', 'hiphop']]);
  });

  it('refuses unvalidated values', () => {
    for (const values of [{ page: '1' }, { 'updatedAt.gte': 'yesterday' }])
      expect(() => planList(listOperation('listTickets'), values)).to.throw(
        TypeError,
        Object.values(values)[0],
      );
  });
});
