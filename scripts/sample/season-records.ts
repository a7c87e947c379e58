import { MINUTE, type Seconds, writeUtc } from './clock.ts';
import { amount, type Currency } from './money.ts';
import type { BundleOffer, EventOnSale, Pricing, ProductOffer, SessionStock, TicketOffer } from './offers.ts';
import type { Organization } from './organizations.ts';
import { imageUrl, type Profile, type Seating, type Venue } from './profile.ts';
import type { Random } from './random.ts';
import type { Season } from './season.ts';

/** The import records of a season. */

/** Share of sold-out sessions among those with sales. */
const SOLD_OUT = 0.15;
/** Largest quantities in an order. */
const MAX_TICKETS = 10;
const MAX_PRODUCTS = 10;
const MAX_BUNDLES = 4;

/** Returns the import record of an event, without the session summary, which the builder derives. */
export function eventRecord({ organizationId, profile }: Organization, event: EventOnSale) {
  const { production } = event;
  const venue = production.venue ?? profile.house;
  return {
    organizationId,
    id: event.eventId,
    createdAt: writeUtc(event.createdAt, fractionOf(event.createdAt)),
    updatedAt: writeUtc(event.updatedAt),
    title: event.title,
    description: production.description ?? null,
    imageUrl: production.image === undefined ? null : imageUrl(profile, production.image),
    venueName: venue.name ?? null,
    venueAddress: addressOf(venue),
    eventTimezone: event.clock.zone,
    currency: profile.currency.code,
    tags: production.tags,
  };
}

function addressOf({ address }: Venue) {
  if (address === undefined) return null;
  const [addressLine1, addressLine2, city, postalCode, countryCode] = address;
  return { addressLine1, addressLine2, city, postalCode, countryCode };
}

export function sessionRecords({ organizationId }: Organization, { eventId, sessions }: EventOnSale) {
  return sessions.map(({ sessionId, startAt, minutes }) => ({
    organizationId,
    eventId,
    id: sessionId,
    startAt,
    durationMinutes: minutes,
  }));
}

/** Returns a fraction of 0, 3 or 6 digits, as different systems write them, derived from the time itself. */
function fractionOf(time: Seconds): string {
  const digits = [0, 0, 3, 6][time % 4];
  return digits === 0 ? '' : `.${String((time * 7919) % 10 ** digits).padStart(digits, '0')}`;
}

/** Returns the offers of a season after its sales, since the available stock depends on them. */
export function offerRecords(season: Season, random: Random) {
  const { profile } = season.organization;
  const context = { organizationId: season.organization.organizationId, profile, random };
  return [
    ...season.events.flatMap((event) =>
      [...event.categories, ...event.extras].map((offer) => ticketOfferRecord(context, event, offer)),
    ),
    ...season.products.map((offer) => productOfferRecord(context, offer)),
    ...season.bundles.map((offer) => bundleOfferRecord(context, offer)),
  ];
}

interface OfferContext {
  readonly organizationId: string;
  readonly profile: Profile;
  readonly random: Random;
}

function ticketOfferRecord(
  { organizationId, profile, random }: OfferContext,
  event: EventOnSale,
  offer: TicketOffer,
) {
  const { currency } = profile;
  const inventory = offer.stock.map((stock) => ({
    inventoryId: stock.inventoryId,
    sessionId: stock.sessionId,
    ...stockOf(stock, offer.seating, random),
  }));
  return {
    organizationId,
    offerId: offer.offerId,
    type: offer.type,
    name: offer.name,
    description: offer.description,
    currency: currency.code,
    images: event.production.image === undefined ? [] : [imageUrl(profile, event.production.image)],
    tags: event.production.tags,
    minQuantityPerOrder: 1,
    maxQuantityPerOrder: MAX_TICKETS,
    compareAtPrice: nullableAmount(offer.compareAtPrice, currency),
    createdAt: createdAfter(event, random),
    eventId: event.eventId,
    vatRate: offer.taxRate,
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

function productOfferRecord({ organizationId, profile, random }: OfferContext, offer: ProductOffer) {
  const { currency } = profile;
  const { merchandise } = offer;
  return {
    organizationId,
    heldByEventIds: offer.heldBy.map(({ eventId }) => eventId),
    offerId: offer.offerId,
    type: offer.type,
    name: merchandise.name,
    description: merchandise.description ?? null,
    currency: currency.code,
    images: (merchandise.images ?? []).map((image) => imageUrl(profile, image)),
    tags: merchandise.tags ?? [],
    minQuantityPerOrder: 1,
    maxQuantityPerOrder: MAX_PRODUCTS,
    compareAtPrice: nullableAmount(merchandise.compareAtPrice ?? null, currency),
    createdAt: createdAfter(offer.heldBy[0], random),
    vatRate: offer.taxRate,
    defaultQuantity: 1,
    variantOptionLabels: optionsOf(merchandise.optionLabels ?? []),
    pricing: offer.pricings.map((pricing) => pricingRecord(pricing, currency)),
    inventory: offer.variants.map(({ inventoryId, sold }, position) => {
      const [weightInGrams, ...options] = merchandise.variants[position];
      const totalStock = roundUp(sold + random.between(0, 40 + sold), 20);
      return {
        inventoryId,
        ...optionsOf(options),
        totalStock,
        availableStock: totalStock - sold,
        weightInGrams,
      };
    }),
  };
}

function optionsOf([option1 = null, option2 = null, option3 = null]: readonly (string | null)[]) {
  return { option1, option2, option3 };
}

function bundleOfferRecord({ organizationId, profile, random }: OfferContext, offer: BundleOffer) {
  const { currency } = profile;
  const { contents, parts } = offer;
  const { description = null, images = [], tags = [] } = contents;
  const singly = parts.reduce((sum, part) => sum + part.offer.pricings[0].price * part.quantity, 0);
  const together = parts.reduce((sum, part) => sum + part.pricing.price * part.quantity, 0);
  return {
    organizationId,
    heldByEventIds: offer.heldBy.map(({ eventId }) => eventId),
    offerId: offer.offerId,
    type: offer.type,
    name: contents.name,
    description,
    currency: currency.code,
    images: images.map((image) => imageUrl(profile, image)),
    tags,
    minQuantityPerOrder: 1,
    maxQuantityPerOrder: MAX_BUNDLES,
    compareAtPrice: images.length > 0 ? amount(singly, currency) : null,
    createdAt: createdAfter(offer.heldBy[0], random),
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
function stockOf({ issued, cancelled }: SessionStock, seating: Seating | undefined, random: Random) {
  const step = seating && 'rows' in seating ? seating.seatsPerRow : 10;
  const soldOut = issued > 0 && random.chance(SOLD_OUT);
  const totalStock = roundUp(
    soldOut ? issued : Math.ceil(issued * (1.1 + random.fraction())) + 2 * step,
    step,
  );
  return { totalStock, availableStock: totalStock - (issued - cancelled) };
}

/** Draws the creation time of an offer: within an hour after its event, before sales open. */
function createdAfter({ clock, createdAt }: EventOnSale, random: Random): string {
  return clock.write(createdAt + random.between(1, 60 * MINUTE));
}

function nullableAmount(price: number | null, currency: Currency): number | null {
  return price === null ? null : amount(price, currency);
}

function roundUp(value: number, step: number): number {
  return Math.ceil(value / step) * step;
}
