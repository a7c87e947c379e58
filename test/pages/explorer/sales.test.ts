import { expect } from 'chai';
import { isLongTime, SalesTally } from '../../../src/pages/explorer/sales.js';
import type { TicketRecord } from '../../../src/pages/explorer/columns.js';

const TICKET: TicketRecord = {
  ticketId: 'tkt_1',
  status: 'FULFILLED',
  offerName: null,
  priceLabel: null,
  issuedAt: '2026-06-01T10:00:00Z',
  cancelledAt: null,
  eventSessionStartAt: null,
  finalPaidPrice: 20,
  currency: 'EUR',
  customer: null,
};

function daysOf(...times: readonly string[]) {
  const tally = new SalesTally('UTC');
  tally.take(times.map((issuedAt) => ({ ...TICKET, issuedAt })));
  return tally.days();
}

describe('The sales of an event', () => {
  it('are listed for every day from the first to the last ticket', () => {
    expect(daysOf('2026-06-03T10:00:00Z', '2026-06-01T10:00:00Z')).to.deep.equal([
      { day: '2026-06-01', issued: 1, total: 1 },
      { day: '2026-06-02', issued: 0, total: 1 },
      { day: '2026-06-03', issued: 1, total: 2 },
    ]);
  });

  it('are listed for the days with tickets alone when these are many years apart', () => {
    const days = daysOf('9999-12-31T23:59:00-23:59', '0001-01-01T00:00:00Z', '2026-06-01T10:00:00Z');
    expect(days).to.deep.equal([
      { day: '0001-01-01', issued: 1, total: 1 },
      { day: '2026-06-01', issued: 1, total: 2 },
      { day: '10000-01-01', issued: 1, total: 3 },
    ]);
    expect(isLongTime(days[0].day, days[2].day)).to.equal(true);
    expect(isLongTime('2025-06-01', '2026-06-01')).to.equal(false);
  });
});
