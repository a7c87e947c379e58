import { expect } from 'chai';
import { givenApi, TestApi } from '../support/test-api.ts';

describe('Errors', () => {
  const given = givenApi();

  it('contain one violation of each invalid parameter, in the order of the declared parameters', async () => {
    const { status, body } = await given.api.send(
      '/v1/orders?email=&status=x&eventIds=1,2,3,4,5,6,7,8,9,10,&updatedAt.lte=1&page=0&perPage=2&perPage=2',
    );
    expect(status).to.equal(400);
    expect(body).to.have.all.keys('detail', 'errors');
    expect(body.detail).to.include('see errors');
    expect(body.errors.map(({ loc, input }) => [loc, input])).to.deep.equal([
      ['query.page', '0'],
      ['query.perPage', '2,2'],
      ['query.updatedAt.lte', '1'],
      ['query.eventIds', '1,2,3,4,5,6,7,8,9,10,'],
      ['query.status', 'x'],
      ['query.email', ''],
    ]);
    expect(body.errors[1].ctx, 'even valid and equal values').to.equal('must be given only once');
  });

  for (const [query, input, problem] of [
    ['tags=1,2,3,4,5,6,7,8,9,10&tags=1', '1,2,3,4,5,6,7,8,9,10,1', 'at most 10'],
    ['tags=a&page=1&tags=', 'a,', 'none of them'],
  ]) {
    it(`contain a list that is given in parts as one, with the hint that commas separate: ${query}`, async () => {
      const { status, body } = await given.api.send(`/v1/events?${query}`);
      expect(status).to.equal(400);
      expect(body.errors).to.have.length(1);
      expect(body.errors[0]).to.deep.include({ loc: 'query.tags', input });
      expect(body.errors[0].ctx).to.include(problem).and.to.include('comma-separated');
    });
  }

  describe('of paths', () => {
    for (const target of [
      ...['/v1', '/v1/', '/v1/Events', '/V1/events', '/v1/events/', '/v1/events//sessions', '//v1/events'],
      ...['/v1/events/evt_a/sessions/ses_a1', '/openapi.json/', '/<script>alert(1)</script>'],
    ]) {
      it(`are 404 in JSON that does not repeat the path, for every method: ${target}`, async () => {
        for (const method of ['get', 'head', 'options', 'post', 'delete'] as const) {
          const { status, text } = await given.api.send(target, { method, as: undefined });
          expect(status).to.equal(404);
          expect(text).not.to.include('script');
        }
      });
    }

    for (const [config, hint] of [
      [{}, '; the API is described at /openapi.json and /docs'],
      [
        { publicBaseUrl: 'https://a.example/api' },
        '; the API is described at https://a.example/api/openapi.json and https://a.example/api/docs',
      ],
      [{ docs: false }, ''],
    ] as const) {
      it(`name the addresses at which the API is described, with ${JSON.stringify(config)}`, async () => {
        await using api = await TestApi.start({ config });
        const { body } = await api.send('/v1/nothing', { as: undefined });
        expect(body.detail).to.equal(`There is no resource at this path${hint}.`);
      });
    }
  });

  describe('of the server', () => {
    const failing = givenApi(() => ({
      stores: () => {
        throw new Error('secret internals');
      },
    }));

    it('are 500 without details, and are logged with the request id', async () => {
      const { status, headers, text } = await failing.api.send('/v1/events', {
        headers: { 'X-Request-Id': 'id-1' },
      });
      expect(status).to.equal(500);
      expect(text).not.to.include('internals');
      expect(headers).not.to.have.property('etag');
      const [line] = failing.api.logged.filter(({ level }) => level === 'error');
      expect(line).to.deep.include({ requestId: 'id-1', operation: 'listEvents' });
      expect(line).to.have.nested.property('err.message', 'secret internals');
    });
  });
});
