import { expect } from 'chai';
import { TICKET_COUNT } from '../support/api-fixture.ts';
import { givenApi } from '../support/test-api.ts';

describe('Tickets', () => {
  const given = givenApi();
  const all = Array.from({ length: TICKET_COUNT }, (_, i) => i);
  const idOf = (i: number) => `tkt_${String(i).padStart(2, '0')}`;
  // Ticket i was issued on day i % 28, and updated the same number of days after the first of November.
  const ordered = (numbers: number[]) =>
    numbers.toSorted((a, b) => (b % 28) - (a % 28) || (idOf(a) < idOf(b) ? -1 : 1)).map(idOf);

  it('are listed latest issued first, ties by id', async () => {
    expect(await given.api.ids('/v1/tickets?perPage=100')).to.deep.equal(ordered(all));
  });

  const filters: [query: string, accepts: (i: number) => boolean][] = [
    ['eventIds=evt_b', (i) => i % 3 === 0],
    ['eventIds=evt_b,evt_a', () => true],
    ['eventIds=evt_none', () => false],
    ['eventIds=evt_south', () => false],
    ['eventIds=%20evt_b', () => false],
    ['sessionIds=ses_a1', (i) => i % 3 !== 0],
    ['orderIds=ord_1,ord_2,ord_1', (i) => i % 5 === 1 || i % 5 === 2],
    ['qrCodes=QR7', (i) => i === 7],
    ['qrCodes=qr7', () => false],
    ['qrCodes=QR%2B+0', (i) => i === 0],
    ['qrCodes=QR_SOUTH', () => false],
    ['eventIds=evt_b&orderIds=ord_0&sessionIds=ses_b1', (i) => i % 15 === 0],
    ['eventIds=evt_b&sessionIds=ses_a1', () => false],
    ['updatedAt.gte=2026-11-28T10:00:00%2B01:00', (i) => i % 28 === 27],
    [
      'updatedAt.gte=2026-11-10T09:00:00Z&updatedAt.lte=2026-11-11T09:00:00Z',
      (i) => [9, 10].includes(i % 28),
    ],
    ['updatedAt.lte=2026-11-01T08:59:59.999999Z', () => false],
    ['updatedAt.lte=2026-11-02T09:00Z&eventIds=evt_a', (i) => i % 28 < 2 && i % 3 !== 0],
  ];
  for (const [query, accepts] of filters) {
    it(`filtered by ${query}`, async () => {
      expect(await given.api.ids(`/v1/tickets?perPage=100&${query}`)).to.deep.equal(
        ordered(all.filter(accepts)),
      );
    });
  }

  for (const name of ['eventIds', 'sessionIds', 'qrCodes', 'orderIds']) {
    for (const [value, word] of [
      ['', 'empty'],
      [',', 'empty'],
      ['a,', 'empty'],
      ['1,2,3,4,5,6,7,8,9,10,11', 'at most 10'],
    ]) {
      it(`refuse ${name}=${value}`, async () => {
        const { status, body } = await given.api.send(`/v1/tickets?${name}=${value}`);
        expect(status).to.equal(400);
        expect(body.errors[0]).to.deep.include({ loc: `query.${name}`, input: value });
        expect(body.errors[0].ctx).to.include(word);
      });
    }
  }

  it('are equal alone and in the list', async () => {
    const { body: list } = await given.api.send('/v1/tickets?perPage=3');
    for (const item of list.items) {
      const { body } = await given.api.send(`/v1/tickets/${String(item['ticketId'])}`);
      expect(body).to.deep.equal(item).and.to.have.property('transferable', null);
    }
  });

  it('that are missing or of another organization are 404 with the same bytes', async () => {
    const missing = await given.api.send('/v1/tickets/tkt_none');
    const foreign = await given.api.send('/v1/tickets/tkt_south');
    expect([missing.status, foreign.status]).to.deep.equal([404, 404]);
    expect(foreign.text).to.equal(missing.text);
    expect(await given.api.send('/v1/tickets/tkt_south', { as: 'south' })).to.have.property('status', 200);
  });
});
