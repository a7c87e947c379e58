import { expect } from 'chai';
import { givenApi } from '../support/test-api.ts';

/** Each response is compared with the OpenAPI document, which demands the `Link` header of `nextPage`, too. */
describe('Pagination', () => {
  const given = givenApi();

  const pages: [query: string, page: number, perPage: number, items: number, totalPages: number][] = [
    ['', 1, 25, 25, 3],
    ['?page=3', 3, 25, 7, 3],
    ['?page=0002', 2, 25, 25, 3],
    ['?perPage=57', 1, 57, 57, 1],
    ['?perPage=19&page=3', 3, 19, 19, 3],
    ['?qrCodes=nothing', 1, 25, 0, 0],
  ];
  for (const [query, page, perPage, count, totalPages] of pages) {
    it(`gives page ${page} of ${totalPages} for ${query || 'no parameters'}`, async () => {
      const { status, body } = await given.api.send(`/v1/tickets${query}`);
      expect(status).to.equal(200);
      const { items, nextPage, ...rest } = body;
      expect(items).to.have.length(count);
      expect(rest).to.deep.equal({ page, perPage, totalPages, hasMore: page < totalPages });
      expect(nextPage === null).to.equal(page >= totalPages);
    });
  }

  for (const target of [
    '/v1/tickets?page=4',
    '/v1/tickets?page=58&perPage=1',
    '/v1/tickets?page=2&qrCodes=nothing',
    `/v1/tickets?page=${'9'.repeat(400)}`,
    '/v1/events/evt_a/sessions?page=2',
  ]) {
    it(`is 204 beyond the last page: ${target.slice(0, 50)}`, async () => {
      expect(await given.api.send(target)).to.have.property('status', 204);
    });
  }

  it('has links with every recognized parameter, and no other', async () => {
    const query =
      '?updatedAt.gte=2026-01-01T00:00:00%2B01:00&foo=1&page=1&perPage=2&eventIds=evt_a,%20x%26y%2B&Page=3&eventIds=evt_b&updatedAt.gt=x';
    const { body } = await given.api.send(`/v1/tickets${query}`);
    expect(body.nextPage).to.equal(
      `${given.api.origin}/v1/tickets?updatedAt.gte=2026-01-01T00%3A00%3A00%2B01%3A00&eventIds=evt_a%2C%20x%26y%2B%2Cevt_b&page=2&perPage=2&snapshot=${given.api.digest('north')}`,
    );
    const next = await given.api.send(body.nextPage?.slice(given.api.origin.length) ?? '');
    expect([next.status, next.body.page]).to.deep.equal([200, 2]);
  });

  it('is on the live data with an empty snapshot, as importers of the OpenAPI document send it', async () => {
    const [empty, absent] = await Promise.all(
      ['/v1/tickets?perPage=2&snapshot=', '/v1/tickets?perPage=2'].map((target) => given.api.send(target)),
    );
    expect(empty).to.have.property('text', absent.text);
  });

  it('has links that name the page size, also the default, and the event of sessions', async () => {
    for (const [target, link] of [
      ['/v1/tickets', `/v1/tickets?page=2&perPage=25&snapshot=${given.api.digest('north')}`],
      [
        '/v1/events/evt_a/sessions?perPage=1',
        `/v1/events/evt_a/sessions?page=2&perPage=1&snapshot=${given.api.digest('north', 'events')}`,
      ],
    ] as const)
      expect((await given.api.send(target)).body.nextPage).to.equal(given.api.origin + link);
  });
});
