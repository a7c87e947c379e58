import { MINUTE, type Seconds } from './clock.ts';
import { amount, type Currency } from './money.ts';
import type { BundleOffer, Pricing, ProductOffer, SessionStock, StagedEvent, TicketOffer } from './offers.ts';
import type { Profile, Seating } from './profile.ts';
import type { Random } from './random.ts';
import type { Season } from './season.ts';

/** Of sessions that sold anything, those with nothing to spare. */
const SOLD_OUT = 0.15;
const MOST_TICKETS = 10;
const MOST_PRODUCTS = 5;
const MOST_BUNDLES = 4;

/** The catalog of a season whose tickets are all sold: the stock left is what was not. */
export function offerRecords(season: Season, random: Random) {
  const { profile } = season.organization;
  const head = { organizationId: season.organization.organizationId, profile, random };
  return [
    ...season.events.flatMap((event) =>
      [...event.categories, ...event.extras].map((offer) => ticketOfferRecord(head, event, offer)),
    ),
    ...season.products.map((offer) => productOfferRecord(head, offer)),
    ...season.bundles.map((offer) => bundleOfferRecord(head, offer)),
  ];
}

interface Head {
  readonly organizationId: string;
  readonly profile: Profile;
  readonly random: Random;
}

function ticketOfferRecord(
  { organizationId, profile, random }: Head,
  event: StagedEvent,
  offer: TicketOffer,
) {
  const { currency } = profile;
  const inventory = offer.stock.map((stock) => ({
    inventoryId: stock.inventoryId,
    sessionId: stock.sessionId,
    ...seatsLeft(stock, offer.seating, random),
  }));
  return {
    organizationId,
    offerId: offer.offerId,
    type: offer.type,
    name: offer.name,
    description: offer.description,
    currency: currency.code,
    images: event.production.imageUrl === null ? [] : [event.production.imageUrl],
    tags: event.production.tags,
    minQuantityPerOrder: 1,
    maxQuantityPerOrder: MOST_TICKETS,
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

function productOfferRecord({ organizationId, profile, random }: Head, offer: ProductOffer) {
  const { currency } = profile;
  const { merchandise } = offer;
  const [option1, option2, option3] = merchandise.optionLabels;
  return {
    organizationId,
    heldByEventIds: offer.heldBy.map(({ eventId }) => eventId),
    offerId: offer.offerId,
    type: offer.type,
    name: merchandise.name,
    description: merchandise.description,
    currency: currency.code,
    images: merchandise.images,
    tags: merchandise.tags,
    minQuantityPerOrder: 1,
    maxQuantityPerOrder: Math.max(MOST_PRODUCTS, MOST_TICKETS),
    compareAtPrice: nullableAmount(merchandise.compareAtPrice ?? null, currency),
    createdAt: createdAfter(offer.heldBy[0], random),
    vatRate: merchandise.taxRate,
    defaultQuantity: 1,
    variantOptionLabels: { option1, option2, option3 },
    pricing: offer.pricings.map((pricing) => pricingRecord(pricing, currency)),
    inventory: offer.variants.map(({ inventoryId, sold }, position) => {
      const { options, weightInGrams } = merchandise.variants[position];
      const totalStock = roundUp(sold + random.between(0, 40 + sold), 20);
      return {
        inventoryId,
        option1: options[0],
        option2: options[1],
        option3: options[2],
        totalStock,
        availableStock: totalStock - sold,
        weightInGrams,
      };
    }),
  };
}

function bundleOfferRecord({ organizationId, profile, random }: Head, offer: BundleOffer) {
  const { currency } = profile;
  const { contents, parts } = offer;
  const singly = parts.reduce((sum, part) => sum + part.offer.pricings[0].price * part.quantity, 0);
  const together = parts.reduce((sum, part) => sum + part.pricing.price * part.quantity, 0);
  return {
    organizationId,
    heldByEventIds: offer.heldBy.map(({ eventId }) => eventId),
    offerId: offer.offerId,
    type: offer.type,
    name: contents.name,
    description: contents.description,
    currency: currency.code,
    images: contents.images,
    tags: contents.tags,
    minQuantityPerOrder: 1,
    maxQuantityPerOrder: MOST_BUNDLES,
    compareAtPrice: contents.images.length > 0 ? amount(singly, currency) : null,
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

/** Room for all that was issued, seats that were cancelled included: those are free again. */
function seatsLeft({ issued, cancelled }: SessionStock, seating: Seating, random: Random) {
  const step = seating.kind === 'numbered' ? seating.seatsPerRow : 10;
  const soldOut = issued > 0 && random.chance(SOLD_OUT);
  const totalStock = roundUp(
    soldOut ? issued : Math.ceil(issued * (1.1 + random.fraction())) + 2 * step,
    step,
  );
  return { totalStock, availableStock: totalStock - (issued - cancelled) };
}

/** Offers are made within the hour after their event, and before sales open. */
function createdAfter({ clock, createdAt }: StagedEvent, random: Random): string {
  const moment: Seconds = createdAt + random.between(1, 60 * MINUTE);
  return clock.write(moment);
}

function nullableAmount(price: number | null, currency: Currency): number | null {
  return price === null ? null : amount(price, currency);
}

function roundUp(value: number, step: number): number {
  return Math.ceil(value / step) * step;
}
