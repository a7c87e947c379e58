import { expect } from 'chai';
import { TICKET_COUNT } from '../support/api-fixture.ts';
import { givenApi } from '../support/test-api.ts';

describe('Pagination', () => {
  const given = givenApi();

  const pages: [query: string, page: number, perPage: number, items: number, totalPages: number][] = [
    ['', 1, 25, 25, 3],
    ['?page=3', 3, 25, 7, 3],
    ['?page=0002', 2, 25, 25, 3],
    ['?perPage=100', 1, 100, 57, 1],
    ['?perPage=57', 1, 57, 57, 1],
    ['?perPage=1&page=57', 57, 1, 1, 57],
    ['?perPage=19&page=3', 3, 19, 19, 3],
    ['?qrCodes=QR5', 1, 25, 1, 1],
    ['?qrCodes=nothing', 1, 25, 0, 0],
    ['?qrCodes=nothing&page=1&perPage=100', 1, 100, 0, 0],
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
    '/v1/tickets?page=9007199254740993&perPage=100',
    '/v1/events?page=99',
    '/v1/events/evt_a/sessions?page=99',
    '/v1/orders?page=99',
    '/v1/catalog/offers?page=99',
  ]) {
    it(`is 204 beyond the last page: ${target.slice(0, 50)}`, async () => {
      const headers = { 'Service-API-Version': 'preview' };
      expect(await given.api.send(target, { headers })).to.have.property('status', 204);
    });
  }

  it('is 200 for page 1 of an empty list', async () => {
    const { status, body } = await given.api.send('/v1/tickets', { as: 'void' });
    expect(status).to.equal(200);
    expect(body).to.deep.equal({
      items: [],
      page: 1,
      perPage: 25,
      totalPages: 0,
      hasMore: false,
      nextPage: null,
    });
  });

  for (const [query, loc] of [
    ['?page', 'query.page'],
    ['?page=1&page=1', 'query.page'],
    ['?perPage=101', 'query.perPage'],
    [`?${'a=1&'.repeat(1200)}page=0`, 'query.page'],
    [`?${Array.from({ length: 1200 }, (_, i) => `a${i}=1`).join('&')}&page=0`, 'query.page'],
  ]) {
    it(`is 400 for ${query.slice(0, 20)}`, async () => {
      const { status, body } = await given.api.send(`/v1/tickets${query}`);
      expect(status).to.equal(400);
      expect(body.errors.map((error) => error.loc)).to.deep.equal([loc]);
    });
  }

  describe('nextPage', () => {
    it('leads to every record once', async () => {
      const seen: unknown[] = [];
      let link: string | null = `${given.api.origin}/v1/tickets?perPage=10`;
      for (let pages = 1; link !== null; pages++) {
        const { body } = await given.api.send(link.slice(given.api.origin.length));
        expect(body.page).to.equal(pages);
        seen.push(...body.items.map(({ ticketId }) => ticketId));
        link = body.nextPage;
      }
      expect(seen).to.have.length(TICKET_COUNT);
      expect(new Set(seen)).to.have.property('size', TICKET_COUNT);
    });

    it('keeps every recognized parameter, and no other', async () => {
      const query =
        '?updatedAt.gte=2026-01-01T00:00:00%2B01:00&foo=1&page=1&perPage=2&eventIds=evt_a,%20x%26y%2B&Page=3&updatedAt.gt=x';
      const { body } = await given.api.send(`/v1/tickets${query}`);
      expect(body.nextPage).to.equal(
        `${given.api.origin}/v1/tickets?updatedAt.gte=2026-01-01T00%3A00%3A00%2B01%3A00&eventIds=evt_a%2C%20x%26y%2B&page=2&perPage=2&snapshot=${given.api.digest('north')}`,
      );
      const next = await given.api.send(body.nextPage?.slice(given.api.origin.length) ?? '');
      expect([next.status, next.body.page]).to.deep.equal([200, 2]);
    });

    it('names the page size, also the default, and continues the sessions of an event', async () => {
      for (const [target, link] of [
        ['/v1/tickets', `/v1/tickets?page=2&perPage=25&snapshot=${given.api.digest('north')}`],
        [
          '/v1/events/evt_a/sessions?perPage=1',
          `/v1/events/evt_a/sessions?page=2&perPage=1&snapshot=${given.api.digest('north', 'events')}`,
        ],
      ] as const)
        expect((await given.api.send(target)).body.nextPage).to.equal(given.api.origin + link);
    });

    it('is in the Link header too, also of HEAD', async () => {
      for (const method of ['get', 'head'] as const) {
        const { headers } = await given.api.send('/v1/tickets?perPage=2', { method });
        const link = `${given.api.origin}/v1/tickets?page=2&perPage=2&snapshot=${given.api.digest('north')}`;
        expect(headers['link']).to.equal(`<${link}>; rel="next"`);
      }
    });

    it('is not in the header on the last page, on 304, and with more than 2,000 characters', async () => {
      const long = await given.api.send(`/v1/tickets?perPage=1&eventIds=evt_a,${'x'.repeat(1900)}`);
      const others = [
        await given.api.send('/v1/tickets?perPage=100'),
        await given.api.send('/v1/tickets', { headers: { 'If-None-Match': '*' } }),
      ];
      expect(long.body.nextPage).to.have.length.above(2000);
      for (const { headers } of [long, ...others]) expect(headers).not.to.have.property('link');
    });
  });
});
