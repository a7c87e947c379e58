import { expect } from 'chai';
import { isLongTime, SalesTally } from '../../../src/pages/explorer/sales.js';

const sold = (issuedAt: string, changes = {}) => ({
  issuedAt,
  cancelledAt: null,
  finalPaidPrice: 10,
  currency: 'EUR',
  ...changes,
});

function tallyOf(tickets: readonly ReturnType<typeof sold>[], timeZone = 'UTC'): SalesTally {
  const tally = new SalesTally(timeZone);
  for (const ticket of tickets) tally.take([ticket]);
  return tally;
}

describe('The sales of an event', () => {
  it('count the tickets of each day at the venue, days without sales included', () => {
    const times = ['2026-06-04T01:00:00Z', '2026-06-03T12:00:00-04:00', '2026-06-01T00:30:00-04:00'];
    expect(
      tallyOf(
        times.map((time) => sold(time)),
        'America/New_York',
      ).days(),
    ).to.deep.equal([
      { day: '2026-06-01', issued: 1, total: 1 },
      { day: '2026-06-02', issued: 0, total: 1 },
      { day: '2026-06-03', issued: 2, total: 3 },
    ]);
    expect(tallyOf([]).days()).to.deep.equal([]);
  });

  it('are listed for the days with tickets alone when these are many years apart', () => {
    const times = ['9999-12-31T23:59:00-23:59', '0001-01-01T00:00:00Z', '2026-06-01T10:00:00Z'];
    const days = tallyOf(times.map((time) => sold(time))).days();
    expect(days).to.deep.equal([
      { day: '0001-01-01', issued: 1, total: 1 },
      { day: '2026-06-01', issued: 1, total: 2 },
      { day: '10000-01-01', issued: 1, total: 3 },
    ]);
    expect(isLongTime(days[0].day, days[2].day)).to.equal(true);
    expect(isLongTime('2025-06-01', '2026-06-01')).to.equal(false);
  });

  it('add up the amounts of each currency, without cancelled tickets', () => {
    const day = '2026-06-01T00:00:00Z';
    const tally = tallyOf([
      sold(day, { finalPaidPrice: 0.1 }),
      sold(day, { finalPaidPrice: 0.2 }),
      sold(day, { cancelledAt: '2026-06-02T00:00:00Z' }),
      sold(day, { currency: 'USD' }),
    ]);
    expect(tally).to.include({ issued: 4, cancelled: 1 });
    expect([...tally.paid]).to.deep.equal([
      ['EUR', 0.3],
      ['USD', 10],
    ]);
  });
});
