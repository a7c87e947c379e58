import { expect } from 'chai';
import { foreignIds, groupOffers, stockBySession } from '../../../src/pages/explorer/offers.js';
import type { Offer, TicketOffer } from '../../../src/pages/explorer/types.d.ts';
import { FULL_BUNDLE_OFFER, FULL_TICKET_OFFER } from '../../support/records.ts';

/** An offer for tickets with pricings by their ids, of which those that begin with `in-` are for a bundle. */
function ticket(
  offerId: string,
  pricingIds: readonly string[],
  options: readonly [offerId: string, pricingId: string][] = [],
): TicketOffer {
  return {
    ...FULL_TICKET_OFFER,
    type: 'TICKET',
    offerId,
    pricing: pricingIds.map((pricingId) => ({
      pricingId,
      name: pricingId,
      price: 10,
      bundleOfferId: pricingId.startsWith('in-') ? 'pass' : null,
      resaleEnabled: false,
    })),
    optionOffers: options.map(([option, pricingId]) => ({ offerId: option, pricingId })),
    inventory: [
      { inventoryId: `${offerId}-1`, sessionId: 'ses_1', totalStock: 100, availableStock: 40 },
      { inventoryId: `${offerId}-2`, sessionId: 'ses_2', totalStock: 50, availableStock: 50 },
    ],
  };
}

/** Returns the base tickets as they are shown: `seat at full, with tour at a`. */
function shown(offers: readonly Offer[]): string[] {
  return groupOffers(offers).tickets.map(({ offer, ownPricings, options }) => {
    const parts = options.map((each) => `${each.offerId} at ${each.pricings.map((p) => p.pricingId).join()}`);
    const own = `${offer.offerId} at ${ownPricings.map(({ pricingId }) => pricingId).join()}`;
    return [own, ...parts].join(', with ');
  });
}

describe('The offers of an event', () => {
  const cases: [name: string, offers: Offer[], expected: string[]][] = [
    [
      'show an option under its base ticket, at the pricing that the ticket cites',
      [ticket('seat', ['full'], [['tour', 'with-seat']]), ticket('tour', ['with-seat', 'alone'])],
      ['seat at full, with tour at with-seat', 'tour at alone'],
    ],
    [
      'show an offer whose own pricings are all cited as an option only',
      [
        ticket('tour', ['a', 'b', 'in-pass']),
        ticket('seat', ['full'], [['tour', 'a']]),
        ticket('standing', ['full'], [['tour', 'b']]),
      ],
      ['seat at full, with tour at a', 'standing at full, with tour at b'],
    ],
    [
      'show an offer without own pricings, of which none is cited',
      [ticket('seat', ['in-pass'])],
      ['seat at '],
    ],
    [
      'compare pricings within their offer',
      [ticket('seat', ['p'], [['tour', 'p']]), ticket('tour', ['p'])],
      ['seat at p, with tour at p'],
    ],
    [
      'name an option that is not among them',
      [ticket('seat', ['full'], [['elsewhere', 'p']])],
      ['seat at full, with elsewhere at '],
    ],
  ];
  for (const [name, offers, expected] of cases) {
    it(name, () => {
      expect(shown(offers)).to.deep.equal(expected);
    });
  }

  it('name offers of other events', () => {
    const bundle: Offer = {
      ...FULL_BUNDLE_OFFER,
      type: 'BUNDLE',
      contains: [
        { offerId: 'seat', quantity: 1, price: 5 },
        { offerId: 'afar', quantity: 1, price: 5 },
      ],
    };
    const offers = [ticket('seat', ['full', 'in-pass'], [['elsewhere', 'p']]), bundle];
    expect(foreignIds(offers)).to.deep.equal(['elsewhere', 'pass', 'afar']);
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
