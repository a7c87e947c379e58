import { MINUTE, type Seconds, writeUtc } from './clock.ts';
import { amount, type Currency } from './money.ts';
import type { Profile, Venue } from './profile.ts';
import type { Random } from './random.ts';
import type { BundleOffer, EventOnSale, Pricing, ProductOffer, Stock, TicketOffer } from './offers.ts';
import type { Season } from './season.ts';

/** The import records of a season. */

/** Share of sold-out sessions among those with sales. */
const SOLD_OUT = 0.15;
/** Largest quantities in an order. */
const MAX_TICKETS = 10;
const MAX_PRODUCTS = 10;
const MAX_BUNDLES = 4;

/** Returns the import record of an event, without the session summary, which the builder derives. */
export function eventRecord(profile: Profile, event: EventOnSale) {
  const { name, place } = event.production;
  const [, description, ...tags] = profile.productions[name];
  const venue = profile.places[place];
  return {
    organizationId: profile.organizationId,
    id: event.eventId,
    createdAt: writeUtc(event.createdAt, fractionOf(event.createdAt)),
    updatedAt: writeUtc(event.updatedAt),
    title: event.title,
    description,
    imageUrl: description === null ? null : imageUrl(profile, name),
    venueName: venue.name ?? null,
    venueAddress: addressOf(venue),
    eventTimezone: event.clock.zone,
    currency: profile.currency.code,
    tags,
  };
}

function imageUrl({ organizationId }: Profile, name: string): string {
  return `https://images.example.org/${organizationId}/${name}.jpg`;
}

function addressOf({ address }: Venue) {
  if (address === undefined) return null;
  const [addressLine1, addressLine2, city, postalCode, countryCode] = address;
  return { addressLine1, addressLine2, city, postalCode, countryCode };
}

export function sessionRecords({ organizationId }: Profile, { eventId, sessions, production }: EventOnSale) {
  return sessions.map(({ sessionId, startAt }) => ({
    organizationId,
    eventId,
    id: sessionId,
    startAt,
    durationMinutes: production.schedule.minutes,
  }));
}

/** Returns a fraction of 0, 3 or 6 digits, as different systems write them, derived from the time itself. */
function fractionOf(time: Seconds): string {
  const digits = [0, 0, 3, 6][time % 4];
  return digits === 0 ? '' : `.${String((time * 7919) % 10 ** digits).padStart(digits, '0')}`;
}

/** Returns the offers of a season after its sales, since the available stock depends on them. */
export function offerRecords({ profile, events, products, bundles }: Season, random: Random) {
  return [
    ...events.flatMap(({ categories, extras }) =>
      [...categories, ...extras].map((offer) => ticketOfferRecord(profile, offer, random)),
    ),
    ...products.map((offer) => productOfferRecord(profile, offer, random)),
    ...bundles.map((offer) => bundleOfferRecord(profile, offer, random)),
  ];
}

function ticketOfferRecord(profile: Profile, offer: TicketOffer, random: Random) {
  const { currency } = profile;
  const { event } = offer;
  const { name } = event.production;
  const [, , ...tags] = profile.productions[name];
  const inventory = offer.stock.map((stock, position) => ({
    inventoryId: stock.inventoryId,
    sessionId: event.sessions[position].sessionId,
    ...stockOf(stock, offer, random),
  }));
  return {
    organizationId: profile.organizationId,
    offerId: offer.offerId,
    type: offer.type,
    name: offer.name,
    description: offer.description,
    currency: currency.code,
    images: [imageUrl(profile, name)],
    tags,
    minQuantityPerOrder: 1,
    maxQuantityPerOrder: MAX_TICKETS,
    compareAtPrice: offer.compareAtPrice === null ? null : amount(offer.compareAtPrice, currency),
    createdAt: createdAfter(event, random),
    eventId: event.eventId,
    vatRate: profile.taxRate,
    defaultMaximumCapacity: Math.max(...inventory.map(({ totalStock }) => totalStock)),
    attendeeFormId: offer.form?.formId ?? null,
    pricing: offer.pricings.map((pricing) => ({
      ...pricingRecord(pricing, currency),
      resaleEnabled: pricing.resaleEnabled,
    })),
    optionOffers: offer.options.map((option) => ({
      offerId: option.offer.offerId,
      pricingId: option.pricing.pricingId,
    })),
    inventory,
  };
}

/** Returns the fields that the offers of products and of bundles share. */
function heldOffer(profile: Profile, offer: ProductOffer | BundleOffer, random: Random) {
  const { type, offerId, heldBy, name, description, image } = offer;
  return {
    organizationId: profile.organizationId,
    heldByEventIds: heldBy.map(({ eventId }) => eventId),
    offerId,
    type,
    name,
    description,
    currency: profile.currency.code,
    images: [imageUrl(profile, image)],
    tags: [],
    minQuantityPerOrder: 1,
    createdAt: createdAfter(heldBy[0], random),
  };
}

function productOfferRecord(profile: Profile, offer: ProductOffer, random: Random) {
  const { currency } = profile;
  return {
    ...heldOffer(profile, offer, random),
    type: offer.type,
    maxQuantityPerOrder: MAX_PRODUCTS,
    compareAtPrice: offer.compareAtPrice === null ? null : amount(offer.compareAtPrice, currency),
    vatRate: profile.taxRate,
    defaultQuantity: 1,
    variantOptionLabels: optionsOf(offer.optionLabels),
    pricing: offer.pricings.map((pricing) => pricingRecord(pricing, currency)),
    inventory: offer.stock.map(({ inventoryId, sold }, position) => {
      const totalStock = roundUp(sold + random.between(0, 40 + sold), 20);
      const availableStock = totalStock - sold;
      return {
        inventoryId,
        ...optionsOf(offer.variants[position]),
        totalStock,
        availableStock,
        weightInGrams: offer.weightInGrams,
      };
    }),
  };
}

function optionsOf([option1 = null, option2 = null, option3 = null]: readonly (string | null)[]) {
  return { option1, option2, option3 };
}

function bundleOfferRecord(profile: Profile, offer: BundleOffer, random: Random) {
  const { currency } = profile;
  const { parts } = offer;
  const singly = parts.reduce((sum, part) => sum + part.offer.pricings[0].price * part.quantity, 0);
  const together = parts.reduce((sum, part) => sum + part.pricing.price * part.quantity, 0);
  return {
    ...heldOffer(profile, offer, random),
    type: offer.type,
    maxQuantityPerOrder: MAX_BUNDLES,
    compareAtPrice: amount(singly, currency),
    pricingId: offer.pricingId,
    price: amount(together, currency),
    contains: parts.map((part) => ({
      offerId: part.offer.offerId,
      quantity: part.quantity,
      price: amount(part.pricing.price, currency),
    })),
  };
}

function pricingRecord({ pricingId, name, price, bundleOfferId }: Pricing, currency: Currency) {
  return { pricingId, name, price: amount(price, currency), bundleOfferId };
}

/** Returns a stock that covers all issued tickets. Seats of cancelled tickets are available again. */
function stockOf({ sold, cancelled }: Stock, { seating }: TicketOffer, random: Random) {
  const step = seating?.numbered?.seatsPerRow ?? 10;
  const soldOut = sold > 0 && random.chance(SOLD_OUT);
  const totalStock = roundUp(soldOut ? sold : Math.ceil(sold * (1.1 + random.fraction())) + 2 * step, step);
  return { totalStock, availableStock: totalStock - (sold - cancelled) };
}

/** Draws the creation time of an offer: within an hour after its event, before sales open. */
function createdAfter({ clock, createdAt }: EventOnSale, random: Random): string {
  return clock.write(createdAt + random.between(1, 60 * MINUTE));
}

function roundUp(value: number, step: number): number {
  return Math.ceil(value / step) * step;
}
