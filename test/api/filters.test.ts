import { expect } from 'chai';
import { HARD_ID, TICKET_COUNT } from '../support/api-fixture.ts';
import { givenApi } from '../support/test-api.ts';

const PREVIEW = { headers: { 'Service-API-Version': 'preview' } };
type Filters = readonly (readonly [query: string, ids: readonly string[]])[];

const START = '2027-01-01T20:00:00%2B01:00';

const TICKETS = Array.from({ length: TICKET_COUNT }, (_, i) => i);
const ticketId = (i: number) => `tkt_${String(i).padStart(2, '0')}`;
/** Returns the ids of tickets, latest issued first. Ticket i was issued and updated on day i % 28, from 0. */
const ticketsWhere = (accepts: (i: number) => boolean) =>
  TICKETS.filter(accepts)
    .toSorted((a, b) => (b % 28) - (a % 28) || a - b)
    .map(ticketId);

/** By path: the ids that each query finds, in list order. */
const LISTS: Readonly<Record<string, Filters>> = {
  '/v1/events': [
    // evt_b and evt_d were created at the same instant, evt_c a microsecond later.
    ['', ['evt_c', 'evt_b', 'evt_d', 'evt_a', HARD_ID]],
    // evt_a starts at the same instant as evt_c, in another notation.
    ['startAt.gte=2027-01-01T19:00:00Z&startAt.lte=2027-01-01T19:00:00Z', ['evt_c', 'evt_a']],
    [`startAt.gte=${START}&startAt.lte=2027-01-01T20:00:00.0000009%2B01:00`, ['evt_c', 'evt_a']],
    ['startAt.gte=2027-01-01T19:00:00.000001Z', ['evt_d', 'evt_a', HARD_ID]],
    ['startAt.lte=2026-06-01T00:00:00Z', ['evt_b']],
    // evt_a and evt_d have sessions before and after the window, but none in it.
    ['startAt.gte=2027-02-02T00:00:00Z&startAt.lte=2027-02-28T00:00:00Z', []],
    ['startAt.gte=2027-03-01T00:00:00Z&startAt.lte=2027-01-01T00:00:00Z', []],
    ['tags=th%C3%A9%C3%A2tre', ['evt_a']],
    ['tags=THE%CC%81A%CC%82TRE', ['evt_a']],
    ['tags=Theatre', ['evt_b']],
    ['tags=+hip++hop+', ['evt_a']],
    ['tags=theatre,%20r%26b', ['evt_b', 'evt_d']],
    ['tags=theatre,theatre', ['evt_b']],
    ['tags=1,2,3,4,5,6,7,8,9,theatre', ['evt_b']],
    ['tags=salsa', []],
    ['tags=hip,hop', []],
    ['tags=theatre,th%C3%A9%C3%A2tre&startAt.gte=2027-01-01T00:00:00Z', ['evt_a']],
  ],
  '/v1/events/evt_a/sessions': [
    ['', ['ses_a1', 'ses_a2']],
    [`startAt.gte=${START}`, ['ses_a1', 'ses_a2']],
    [`startAt.gt=${START}`, ['ses_a2']],
    [`startAt.lte=${START}`, ['ses_a1']],
    [`startAt.lt=${START}`, []],
    [`startAt.gt=${START}&startAt.gte=${START}`, ['ses_a2']],
    ['startAt.lt=2027-02-01T19:00:00Z&startAt.lte=2027-02-01T19:00:00Z', ['ses_a1']],
  ],
  '/v1/tickets': [
    ['', ticketsWhere(() => true)],
    ['eventIds=evt_b', ticketsWhere((i) => i % 3 === 0)],
    ['eventIds=evt_b,evt_a', ticketsWhere(() => true)],
    ['eventIds=evt_none', []],
    ['eventIds=evt_south', []],
    ['eventIds=%20evt_b', []],
    ['sessionIds=ses_a1', ticketsWhere((i) => i % 3 !== 0)],
    ['orderIds=ord_1,ord_2,ord_1', ticketsWhere((i) => i % 5 === 1 || i % 5 === 2)],
    ['orderIds=ord_none&orderIds=%20ord_1', []],
    ['qrCodes=QR7', ['tkt_07']],
    ['qrCodes=qr7', []],
    ['qrCodes=QR%2B+0', ['tkt_00']],
    ['qrCodes=QR_SOUTH', []],
    ['eventIds=evt_b&orderIds=ord_0&sessionIds=ses_b1', ticketsWhere((i) => i % 15 === 0)],
    ['eventIds=evt_b&sessionIds=ses_a1', []],
    ['updatedAt.gte=2026-11-28T10:00:00%2B01:00', ticketsWhere((i) => i % 28 === 27)],
    [
      'updatedAt.gte=2026-11-10T09:00:00Z&updatedAt.lte=2026-11-11T09:00:00Z',
      ticketsWhere((i) => [9, 10].includes(i % 28)),
    ],
    ['updatedAt.lte=2026-11-01T08:59:59.999999Z', []],
    ['updatedAt.lte=2026-11-02T09:00Z&eventIds=evt_a', ticketsWhere((i) => i % 28 < 2 && i % 3 !== 0)],
  ],
  '/v1/orders': [
    ['', ['ord_2', 'ord_1', 'ord_0']],
    ['status=PENDING', ['ord_0']],
    ['status=CANCELLED', ['ord_2']],
    // ord_1 has items of both events, and appears once.
    ['eventIds=evt_a,evt_b', ['ord_1', 'ord_0']],
    ['eventIds=evt_b', ['ord_1']],
    ['eventIds=evt_south', []],
    ['email=zo%C3%A9%2Blist%40example.ORG', ['ord_1']],
    ['email=zoe%2Blist%40example.org', []],
    ['email=ORD_0@example.org', ['ord_0']],
    ['email=nobody', []],
    ['updatedAt.gte=2026-10-02T08:00:00Z', ['ord_2', 'ord_1']],
    ['updatedAt.gte=2026-10-02T08:00:00Z&status=FULFILLED&eventIds=evt_a', ['ord_1']],
  ],
  '/v1/catalog/offers': [
    ['', ['off_t', 'off_u', 'off_p', 'off_b']],
    ['type=BUNDLE', ['off_b']],
    ['type=TICKET', ['off_t', 'off_u']],
    ['eventId=evt_a', ['off_t', 'off_p', 'off_b']],
    ['eventId=evt_b', ['off_u', 'off_b']],
    ['eventId=evt_b&type=PRODUCT', []],
    ['eventId=evt_south', []],
    ['resaleEnabled=true', ['off_t']],
    ['resaleEnabled=false', ['off_t', 'off_u']],
    ['resaleEnabled=false&type=PRODUCT', []],
    ['sessionId=ses_b1', ['off_t', 'off_u', 'off_p', 'off_b']],
    ['createdAt.gte=2026-09-02T08:00:00Z&createdAt.lte=2026-09-03T08:00:00Z', ['off_u', 'off_p']],
  ],
};

for (const [path, filters] of Object.entries(LISTS)) {
  describe(`The list ${path}`, () => {
    const given = givenApi();
    for (const [query, ids] of filters) {
      it(`has ${ids.slice(0, 5).join(', ') || 'no records'} with ${decodeURIComponent(query) || 'no filter'}`, async () => {
        expect(await given.api.ids(`${path}?perPage=100&${query}`, PREVIEW)).to.deep.equal(ids);
      });
    }
  });
}

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

  it('has one parameter with commas in the link to the next page, which serves the further records', async () => {
    const { body } = await given.api.send('/v1/events?tags=theatre&tags=r%26b&perPage=1');
    const { searchParams, pathname, search } = new URL(body.nextPage ?? '');
    expect(searchParams.getAll('tags')).to.deep.equal(['theatre,r&b']);
    const ids = [body.items[0]['id'], ...(await given.api.ids(pathname + search))];
    expect(ids).to.have.members(['evt_b', 'evt_d']);
  });

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
