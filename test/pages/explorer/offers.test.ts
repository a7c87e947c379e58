import { expect } from 'chai';
import { groupOffers, type Offer, stockBySession } from '../../../src/pages/explorer/offers.js';
import { SalesTally } from '../../../src/pages/explorer/sales.js';

const COMMON = {
  description: null,
  currency: 'EUR',
  tags: [],
  minQuantityPerOrder: 1,
  maxQuantityPerOrder: 8,
  compareAtPrice: null,
  createdAt: '2026-09-02T09:00:00+02:00',
};

function ticket(
  offerId: string,
  pricingIds: readonly string[],
  options: readonly [string, string][] = [],
): Offer {
  return {
    ...COMMON,
    type: 'TICKET',
    offerId,
    name: offerId,
    pricing: pricingIds.map((pricingId) => ({
      pricingId,
      name: pricingId,
      price: 10,
      bundleOfferId: pricingId.startsWith('in-') ? 'pass' : null,
    })),
    optionOffers: options.map(([option, pricingId]) => ({ offerId: option, pricingId })),
    inventory: [
      { inventoryId: `${offerId}-1`, sessionId: 'ses_1', totalStock: 100, availableStock: 40 },
      { inventoryId: `${offerId}-2`, sessionId: 'ses_2', totalStock: 50, availableStock: 50 },
    ],
  };
}

function shown(offers: readonly Offer[]) {
  const { tickets, optionsOnly } = groupOffers(offers);
  return {
    optionsOnly: [...optionsOnly],
    tickets: tickets.map(({ offer, ownPricings, options }) => ({
      offer: offer.offerId,
      sold: ownPricings.map(({ pricingId }) => pricingId),
      options: options.map((option) => [
        option.offerId,
        ...option.pricings.map(({ pricingId }) => pricingId),
      ]),
    })),
  };
}

describe('The offers of an event', () => {
  it('show an option under its base ticket, at the pricing that the ticket cites', () => {
    const offers = [
      ticket('seat', ['full'], [['tour', 'with-seat']]),
      ticket('tour', ['with-seat', 'alone']),
    ];
    expect(shown(offers)).to.deep.equal({
      optionsOnly: [],
      tickets: [
        { offer: 'seat', sold: ['full'], options: [['tour', 'with-seat']] },
        { offer: 'tour', sold: ['alone'], options: [] },
      ],
    });
  });

  it('show an offer whose own pricings are all cited only as an option', () => {
    const offers = [
      ticket('tour', ['a', 'b', 'in-pass']),
      ticket('seat', ['full'], [['tour', 'a']]),
      ticket('standing', ['full'], [['tour', 'b']]),
    ];
    expect(shown(offers).optionsOnly).to.deep.equal(['tour']);
    expect(shown(offers).tickets.map(({ offer }) => offer)).to.deep.equal(['seat', 'standing']);
  });

  it('show an offer without own pricings, of which none is cited', () => {
    expect(shown([ticket('seat', ['in-pass'])])).to.deep.equal({
      optionsOnly: [],
      tickets: [{ offer: 'seat', sold: [], options: [] }],
    });
  });

  it('compare pricings within their offer', () => {
    const offers = [ticket('seat', ['p'], [['tour', 'p']]), ticket('tour', ['p'])];
    expect(shown(offers)).to.deep.equal({
      optionsOnly: ['tour'],
      tickets: [{ offer: 'seat', sold: ['p'], options: [['tour', 'p']] }],
    });
  });

  it('name an option that is not among them', () => {
    expect(shown([ticket('seat', ['full'], [['elsewhere', 'p']])]).tickets[0].options).to.deep.equal([
      ['elsewhere'],
    ]);
  });

  it('add up the stock of each session, without that of options', () => {
    const offers = [
      ticket('seat', ['full'], [['tour', 'a']]),
      ticket('standing', ['full']),
      ticket('tour', ['a']),
    ];
    expect([...stockBySession(offers)]).to.deep.equal([
      ['ses_1', { available: 80, total: 200 }],
      ['ses_2', { available: 100, total: 100 }],
    ]);
  });
});

describe('The sales of an event', () => {
  const sold = (
    issuedAt: string,
    changes: { cancelledAt?: string; finalPaidPrice?: number; currency?: string } = {},
  ) => ({
    ticketId: 't',
    status: 'FULFILLED',
    offerName: null,
    priceLabel: null,
    issuedAt,
    cancelledAt: null,
    eventSessionStartAt: null,
    finalPaidPrice: 10,
    currency: 'EUR',
    customer: null,
    ...changes,
  });

  it('count the tickets of each day at the venue, days without sales included', () => {
    const tally = new SalesTally('America/New_York');
    tally.take([sold('2026-06-04T01:00:00Z'), sold('2026-06-03T12:00:00-04:00')]);
    tally.take([sold('2026-06-01T00:30:00-04:00')]);
    expect(tally.days()).to.deep.equal([
      { day: '2026-06-01', issued: 1, total: 1 },
      { day: '2026-06-02', issued: 0, total: 1 },
      { day: '2026-06-03', issued: 2, total: 3 },
    ]);
  });

  it('add up the amounts of each currency, without cancelled tickets', () => {
    const tally = new SalesTally('UTC');
    tally.take([
      sold('2026-06-01T00:00:00Z', { finalPaidPrice: 12.5 }),
      sold('2026-06-01T00:00:00Z', { cancelledAt: '2026-06-02T00:00:00Z' }),
      sold('2026-06-01T00:00:00Z', { currency: 'USD' }),
    ]);
    expect(tally).to.include({ issued: 3, cancelled: 1 });
    expect([...tally.paid]).to.deep.equal([
      ['EUR', 12.5],
      ['USD', 10],
    ]);
  });

  it('are none without tickets', () => {
    expect(new SalesTally('UTC').days()).to.deep.equal([]);
  });
});
