import { expect } from 'chai';
import { planList } from '../../src/query/plan.ts';
import { listOperation, readValues } from '../support/oracle/read-values.ts';

function plan(operationId: string, texts: Readonly<Record<string, string>>) {
  const operation = listOperation(operationId);
  return planList(operation, readValues(operation, Object.entries(texts)) ?? {});
}

/** The comparison of pages with the oracle's proves that each parameter has its predicate, and the plan its view and page. */
describe('The plan of a list', () => {
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
