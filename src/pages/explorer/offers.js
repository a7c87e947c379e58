/**
 * The offers of an event, in the groups in which they are sold.
 *
 * @typedef {object} Option an offer as it is sold under a base ticket
 * @property {string} offerId
 * @property {TicketOffer | ProductOffer | undefined} offer undefined if it is not among the offers of the event
 * @property {readonly Pricing[]} pricings those that the base ticket cites
 *
 * @typedef {object} SoldOffer
 * @property {TicketOffer | ProductOffer} offer
 * @property {readonly Pricing[]} ownPricings
 * @property {readonly Option[]} options
 *
 * @typedef {object} StockLeft
 * @property {number} available
 * @property {number} total
 *
 * @import { Offer, Pricing, ProductOffer, TicketOffer } from './types.d.ts'
 */

/**
 * Groups the offers of an event: base tickets with their options, products, and bundles. The groups are right only for all
 * of its offers: an option is cited by base tickets. An own pricing that no base ticket cites counts as sold on its own,
 * although this is no proof of it. An offer of which all own pricings are cited is in no group.
 * @param {readonly Offer[]} offers
 */
export function groupOffers(offers) {
  const byId = new Map(offers.map((offer) => [offer.offerId, offer]));
  const cited = new Set(
    offers.flatMap((offer) => (offer.type === 'TICKET' ? offer.optionOffers : [])).map(pairOf),
  );
  /** @type {SoldOffer[]} */
  const sold = offers.flatMap((offer) => {
    if (offer.type === 'BUNDLE') return [];
    const { offerId } = offer;
    const own = ownPricings(offer);
    const uncited = own.filter(({ pricingId }) => !cited.has(pairOf({ offerId, pricingId })));
    if (own.length > 0 && uncited.length === 0) return [];
    return [{ offer, ownPricings: uncited, options: offer.type === 'TICKET' ? optionsOf(offer, byId) : [] }];
  });
  return {
    tickets: sold.filter(({ offer }) => offer.type === 'TICKET'),
    products: sold.filter(({ offer }) => offer.type === 'PRODUCT'),
    bundles: offers.filter((offer) => offer.type === 'BUNDLE'),
  };
}

/**
 * Returns the pricings at which an offer is sold outside of bundles.
 * @param {TicketOffer | ProductOffer} offer
 * @returns {readonly Pricing[]}
 */
export function ownPricings({ pricing }) {
  return pricing.filter(({ bundleOfferId }) => bundleOfferId === null);
}

/**
 * @param {TicketOffer} ticket
 * @param {ReadonlyMap<string, Offer>} byId
 * @returns {Option[]}
 */
function optionsOf({ optionOffers }, byId) {
  const pricingIds = Map.groupBy(optionOffers, ({ offerId }) => offerId);
  return Array.from(pricingIds, ([offerId, citing]) => {
    const offer = byId.get(offerId);
    if (offer === undefined || offer.type === 'BUNDLE') return { offerId, offer: undefined, pricings: [] };
    const pricings = offer.pricing.filter((pricing) =>
      citing.some(({ pricingId }) => pricingId === pricing.pricingId),
    );
    return { offerId, offer, pricings };
  });
}

/** @param {{ offerId: string, pricingId: string }} pair */
function pairOf({ offerId, pricingId }) {
  return JSON.stringify([offerId, pricingId]);
}

/**
 * Returns the ids of the offers that offers name, and that are not among them: those of other events.
 * @param {readonly Offer[]} offers
 */
export function foreignIds(offers) {
  const named = groupOffers(offers);
  const ids = [...named.tickets, ...named.products].flatMap(({ offer, options }) => [
    ...options.map(({ offerId }) => offerId),
    ...offer.pricing.flatMap(({ bundleOfferId }) => bundleOfferId ?? []),
  ]);
  const contained = named.bundles.flatMap(({ contains }) => contains.map(({ offerId }) => offerId));
  return [...new Set([...ids, ...contained])].filter((id) => offers.every(({ offerId }) => offerId !== id));
}

/**
 * @param {readonly { availableStock: number, totalStock: number }[]} stocks
 * @returns {StockLeft}
 */
export function totalOf(stocks) {
  return {
    available: stocks.reduce((sum, { availableStock }) => sum + availableStock, 0),
    total: stocks.reduce((sum, { totalStock }) => sum + totalStock, 0),
  };
}

/**
 * Adds up the stock of each session over the base tickets of an event.
 * @param {readonly Offer[]} offers
 */
export function stockBySession(offers) {
  const stocks = groupOffers(offers).tickets.flatMap(({ offer }) =>
    offer.type === 'TICKET' ? offer.inventory : [],
  );
  const bySession = Map.groupBy(stocks, ({ sessionId }) => sessionId);
  return new Map(Array.from(bySession, ([session, each]) => [session, totalOf(each)]));
}
