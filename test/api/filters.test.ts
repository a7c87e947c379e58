import { expect } from 'chai';
import { HARD_ID, TICKET_COUNT } from '../support/api-fixture.ts';
import { givenApi } from '../support/test-api.ts';

const PREVIEW = { headers: { 'Service-API-Version': 'preview' } };

/** Returns the ids of tickets, latest issued first. Ticket i was issued and updated on day i % 28, from 0. */
const ticketsWhere = (accepts: (i: number) => boolean) =>
  Array.from({ length: TICKET_COUNT }, (_, i) => i)
    .filter(accepts)
    .toSorted((a, b) => (b % 28) - (a % 28) || a - b)
    .map((i) => `tkt_${String(i).padStart(2, '0')}`);

/** Lists, with the ids of their records in order. test/query compares random queries with an oracle. */
const LISTS: Readonly<Record<string, readonly string[]>> = {
  // evt_b and evt_d were created at the same instant, evt_c a microsecond later.
  '/v1/events?': ['evt_c', 'evt_b', 'evt_d', 'evt_a', HARD_ID],
  // evt_a starts at the same instant as evt_c, in another notation.
  '/v1/events?startAt.gte=2027-01-01T19:00Z&startAt.lte=2027-01-01T19:00Z': ['evt_c', 'evt_a'],
  // evt_a and evt_d have sessions before and after the window, but none in it.
  '/v1/events?startAt.gte=2027-02-02T00:00:00Z&startAt.lte=2027-02-28T00:00:00Z': [],
  '/v1/events?tags=THE%CC%81A%CC%82TRE': ['evt_a'],
  '/v1/events?tags=+hip++hop+': ['evt_a'],
  '/v1/events?tags=theatre,%20r%26b': ['evt_b', 'evt_d'],
  '/v1/events/evt_a/sessions?': ['ses_a1', 'ses_a2'],
  '/v1/events/evt_a/sessions?startAt.gt=2027-01-01T20:00:00%2B01:00': ['ses_a2'],
  '/v1/events/evt_a/sessions?startAt.lt=2027-02-01T19:00:00Z&startAt.lte=2027-02-01T19:00:00Z': ['ses_a1'],
  '/v1/tickets?': ticketsWhere(() => true),
  '/v1/tickets?eventIds=evt_b': ticketsWhere((i) => i % 3 === 0),
  '/v1/tickets?sessionIds=ses_a1': ticketsWhere((i) => i % 3 !== 0),
  '/v1/tickets?orderIds=ord_1,ord_2,ord_1': ticketsWhere((i) => [1, 2].includes(i % 5)),
  '/v1/tickets?qrCodes=QR%2B+0': ['tkt_00'],
  '/v1/tickets?eventIds=evt_b&orderIds=ord_0&sessionIds=ses_b1': ticketsWhere((i) => i % 15 === 0),
  '/v1/tickets?updatedAt.gte=2026-11-28T10:00:00%2B01:00': ticketsWhere((i) => i % 28 === 27),
  '/v1/tickets?updatedAt.lte=2026-11-02T09:00Z&eventIds=evt_b': ticketsWhere(
    (i) => i % 28 < 2 && i % 3 === 0,
  ),
  '/v1/orders?': ['ord_2', 'ord_1', 'ord_0'],
  '/v1/orders?status=PENDING': ['ord_0'],
  // ord_1 has items of both events, and appears once.
  '/v1/orders?eventIds=evt_a,evt_b': ['ord_1', 'ord_0'],
  '/v1/orders?email=zo%C3%A9%2Blist%40example.ORG': ['ord_1'],
  '/v1/orders?email=zoe%2Blist%40example.org': [],
  '/v1/orders?updatedAt.gte=2026-10-02T08:00:00Z&status=FULFILLED&eventIds=evt_a': ['ord_1'],
  '/v1/catalog/offers?': ['off_t', 'off_u', 'off_p', 'off_b'],
  '/v1/catalog/offers?eventId=evt_a&type=PRODUCT': ['off_p'],
  '/v1/catalog/offers?resaleEnabled=false': ['off_t', 'off_u'],
  '/v1/catalog/offers?sessionId=ses_b1': ['off_t', 'off_u', 'off_p', 'off_b'],
  '/v1/catalog/offers?createdAt.gte=2026-09-02T08:00Z&createdAt.lte=2026-09-03T08:00Z': ['off_u', 'off_p'],
};

describe('A list', () => {
  const given = givenApi();
  for (const [target, ids] of Object.entries(LISTS)) {
    it(`has ${ids.slice(0, 5).join(', ') || 'no records'}: ${decodeURIComponent(target)}`, async () => {
      expect(await given.api.ids(`${target}&perPage=100`, PREVIEW)).to.deep.equal(ids);
    });
  }
});

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
      expect(expected.body.nextPage).to.be.a('string');
      expect((await given.api.send(parts)).text).to.equal(expected.text);
    });
  }

  for (const [query, input, problem] of [
    ['tags=1,2,3,4,5,6,7,8,9,10&tags=1', '1,2,3,4,5,6,7,8,9,10,1', 'at most 10'],
    ['tags=a&page=1&tags=', 'a,', 'none of them'],
  ]) {
    it(`is refused as one list, with the hint that commas separate: ${query}`, async () => {
      const { status, body } = await given.api.send(`/v1/events?${query}`);
      expect(status).to.equal(400);
      expect(body.errors).to.have.length(1);
      expect(body.errors[0]).to.deep.include({ loc: 'query.tags', input });
      expect(body.errors[0].ctx).to.include(problem).and.to.include('comma-separated');
    });
  }
});
