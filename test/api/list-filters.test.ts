import { expect } from 'chai';
import { type ListOperation, OPERATIONS } from '../../src/contract/operations.ts';
import { isList } from '../../src/contract/parameter.ts';
import { givenApi } from '../support/test-api.ts';

const lists = OPERATIONS.filter((operation): operation is ListOperation => operation.kind === 'list').flatMap(
  ({ path, parameters }) =>
    parameters.filter(({ kind }) => isList(kind)).map(({ name }) => [path, name] as const),
);

describe('A list filter that is given several times', () => {
  const given = givenApi();

  for (const [whole, parts] of [
    ['/v1/tickets?eventIds=evt_a,evt_b&perPage=5', '/v1/tickets?eventIds=evt_a&eventIds=evt_b&perPage=5'],
    [
      '/v1/tickets?orderIds=ord_1,ord_2,ord_1&perPage=2&eventIds=evt_a',
      '/v1/tickets?orderIds=ord_1&perPage=2&eventIds=evt_a&orderIds=ord_2,ord_1',
    ],
    ['/v1/events?tags=theatre,%20R%26B%20&perPage=1', '/v1/events?tags=theatre&perPage=1&tags=%20R%26B%20'],
  ]) {
    it(`has the response of one list, the link included: ${parts}`, async () => {
      const expected = await given.api.send(whole);
      const response = await given.api.send(parts);
      expect(expected.body.nextPage).to.be.a('string');
      expect(response.text).to.equal(expected.text);
    });
  }

  it('has one parameter with commas in the link to the next page, which serves the further records', async () => {
    const { body } = await given.api.send('/v1/events?tags=theatre&tags=r%26b&perPage=1');
    const { searchParams, pathname, search } = new URL(body.nextPage ?? '');
    expect(searchParams.getAll('tags')).to.deep.equal(['theatre,r&b']);
    const ids = [body.items[0]['id'], ...(await given.api.ids(pathname + search))];
    expect(ids).to.have.members(['evt_b', 'evt_d']);
  });

  it('has a tag of its own, which gets 304', async () => {
    const target = '/v1/tickets?eventIds=evt_a&eventIds=evt_b';
    const { headers } = await given.api.send(target);
    const tag = headers['etag'];
    expect(await given.api.send(target, { headers: { 'If-None-Match': tag } })).to.have.property(
      'status',
      304,
    );
  });

  for (const [path, name] of lists) {
    const ten = '1,2,3,4,5,6,7,8,9,10';
    for (const [query, input, problem] of [
      [`${name}=${ten}&${name}=1`, `${ten},1`, 'at most 10'],
      [`${name}=a&page=1&${name}=`, 'a,', 'none of them empty'],
    ]) {
      it(`is refused as one list, with the hint that commas separate: ${path}?${query}`, async () => {
        const { status, body } = await given.api.send(`${path}?${query}`);
        expect(status).to.equal(400);
        expect(body.errors).to.have.length(1);
        expect(body.errors[0]).to.deep.include({ loc: `query.${name}`, input });
        expect(body.errors[0].ctx).to.include(problem).and.to.include('comma-separated');
      });
    }
  }

  it('keeps white space around ids, which then match nothing', async () => {
    expect(await given.api.ids('/v1/tickets?orderIds=ord_none&orderIds=%20ord_1')).to.deep.equal([]);
  });
});
