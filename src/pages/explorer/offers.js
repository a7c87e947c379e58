/**
 * The offers of an event, in the groups in which they are sold.
 *
 * @typedef {object} Pricing
 * @property {string | null} pricingId
 * @property {string | null} name
 * @property {number | null} price
 * @property {string | null} bundleOfferId
 * @property {boolean | null} [resaleEnabled] of tickets
 *
 * @typedef {object} Stock
 * @property {string | null} inventoryId
 * @property {number | null} totalStock
 * @property {number | null} availableStock
 *
 * @typedef {object} CommonOffer
 * @property {string} offerId
 * @property {string | null} name
 * @property {string | null} description
 * @property {string} currency
 * @property {readonly string[]} tags
 * @property {number | null} minQuantityPerOrder
 * @property {number | null} maxQuantityPerOrder
 * @property {number | null} compareAtPrice
 * @property {string} createdAt
 *
 * @typedef {CommonOffer & {
 *   type: 'TICKET', pricing: readonly Pricing[],
 *   optionOffers: readonly { offerId: string | null, pricingId: string | null }[],
 *   inventory: readonly (Stock & { sessionId: string | null })[],
 * }} TicketOffer
 * @typedef {CommonOffer & {
 *   type: 'PRODUCT', pricing: readonly Pricing[],
 *   variantOptionLabels: Readonly<Record<string, string | null>> | null,
 *   inventory: readonly (Stock & Readonly<Record<'option1' | 'option2' | 'option3', string | null>>)[],
 * }} ProductOffer
 * @typedef {CommonOffer & {
 *   type: 'BUNDLE', pricingId: string | null, price: number | null,
 *   contains: readonly { offerId: string | null, quantity: number | null, price: number | null }[],
 * }} BundleOffer
 * @typedef {TicketOffer | ProductOffer | BundleOffer} Offer
 */

/**
 * @typedef {object} Option an offer as it is sold under a base ticket
 * @property {string} offerId
 * @property {TicketOffer | ProductOffer | undefined} offer undefined if it is not among the offers of the event
 * @property {readonly Pricing[]} pricings those that the base ticket cites
 *
 * @typedef {object} SoldOffer
 * @property {Offer} offer
 * @property {readonly Pricing[]} ownPricings
 * @property {readonly Option[]} options
 *
 * @typedef {object} OfferGroups
 * @property {readonly SoldOffer[]} tickets base tickets with their options
 * @property {readonly SoldOffer[]} products
 * @property {readonly BundleOffer[]} bundles
 * @property {ReadonlySet<string>} optionsOnly ids of the offers that are sold under a base ticket alone
 */

/**
 * Groups the offers of an event. The groups are right only for all of its offers: an option is cited by base tickets.
 * An own pricing that no base ticket cites counts as sold on its own, although this is no proof of it.
 * @param {readonly Offer[]} offers
 * @returns {OfferGroups}
 */
export function groupOffers(offers) {
  const byId = new Map(offers.map((offer) => [offer.offerId, offer]));
  const cited = new Set(
    offers.flatMap((offer) => (offer.type === 'TICKET' ? offer.optionOffers : [])).map(pairOf),
  );
  /** @param {Offer} offer */
  const isOptionOnly = (offer) => {
    const own = ownPricings(offer);
    return (
      own.length > 0 && own.every(({ pricingId }) => cited.has(pairOf({ offerId: offer.offerId, pricingId })))
    );
  };
  const optionsOnly = new Set(offers.filter(isOptionOnly).map(({ offerId }) => offerId));
  const sold = offers
    .filter(({ offerId }) => !optionsOnly.has(offerId))
    .map((offer) => ({
      offer,
      ownPricings: ownPricings(offer).filter(
        ({ pricingId }) => !cited.has(pairOf({ offerId: offer.offerId, pricingId })),
      ),
      options: offer.type === 'TICKET' ? optionsOf(offer, byId) : [],
    }));
  return {
    tickets: sold.filter(({ offer }) => offer.type === 'TICKET'),
    products: sold.filter(({ offer }) => offer.type === 'PRODUCT'),
    bundles: offers.filter((offer) => offer.type === 'BUNDLE'),
    optionsOnly,
  };
}

/**
 * Returns the pricings at which an offer is sold outside of bundles.
 * @param {Offer} offer
 */
export function ownPricings(offer) {
  return offer.type === 'BUNDLE' ? [] : offer.pricing.filter(({ bundleOfferId }) => bundleOfferId === null);
}

/**
 * @param {TicketOffer} ticket
 * @param {ReadonlyMap<string, Offer>} byId
 * @returns {Option[]}
 */
function optionsOf(ticket, byId) {
  /** @type {Map<string, Set<string | null>>} */
  const pricingsOf = new Map();
  for (const { offerId, pricingId } of ticket.optionOffers) {
    if (offerId === null) continue;
    pricingsOf.set(offerId, (pricingsOf.get(offerId) ?? new Set()).add(pricingId));
  }
  return [...pricingsOf].map(([offerId, pricingIds]) => {
    const offer = byId.get(offerId);
    if (offer === undefined || offer.type === 'BUNDLE') return { offerId, offer: undefined, pricings: [] };
    return { offerId, offer, pricings: offer.pricing.filter(({ pricingId }) => pricingIds.has(pricingId)) };
  });
}

/** @param {{ offerId: string | null, pricingId: string | null }} pair */
function pairOf({ offerId, pricingId }) {
  return JSON.stringify([offerId, pricingId]);
}

/**
 * @typedef {object} StockLeft
 * @property {number} available
 * @property {number} total
 */

/**
 * Adds up stocks. Those without figures count nothing.
 * @param {readonly Stock[]} stocks
 * @returns {StockLeft}
 */
export function totalOf(stocks) {
  return stocks.reduce(
    ({ available, total }, { availableStock, totalStock }) => ({
      available: available + (availableStock ?? 0),
      total: total + (totalStock ?? 0),
    }),
    { available: 0, total: 0 },
  );
}

/**
 * Adds up the stock of each session over the base tickets of an event.
 * @param {readonly Offer[]} offers
 * @returns {Map<string, StockLeft>}
 */
export function stockBySession(offers) {
  /** @type {Map<string, Stock[]>} */
  const stocks = new Map();
  for (const { offer } of groupOffers(offers).tickets) {
    if (offer.type !== 'TICKET') continue;
    for (const stock of offer.inventory) {
      if (stock.sessionId === null) continue;
      const known = stocks.get(stock.sessionId);
      if (known === undefined) stocks.set(stock.sessionId, [stock]);
      else known.push(stock);
    }
  }
  return new Map([...stocks].map(([session, each]) => [session, totalOf(each)]));
}
