import type { Seconds, ZoneClock } from './clock.ts';
import { percentOf } from './money.ts';
import type { Category, Extra, Form, Merchandise, Package, Production, Profile, Seating } from './profile.ts';
import type { Identifiers } from './random.ts';

/** The events on sale and their offers, in the form that sales are made from. Prices are in minor units. */

export interface Pricing {
  readonly pricingId: string;
  readonly name: string;
  readonly price: number;
  /** The bundle sold at this price; null for the offer's own pricings. */
  readonly bundleOfferId: string | null;
  readonly resaleEnabled: boolean;
}

export interface TicketOffer {
  readonly type: 'TICKET';
  readonly offerId: string;
  readonly name: string;
  readonly description: string | null;
  readonly compareAtPrice: number | null;
  readonly taxRate: number;
  readonly seating: Seating | undefined;
  readonly form: Form | undefined;
  readonly pricings: Pricing[];
  readonly options: Option[];
  /** One entry for each session of the event, in order. */
  readonly stock: SessionStock[];
}

/** An offer sold with a ticket, at one of its own pricings. */
export interface Option {
  readonly offer: TicketOffer | ProductOffer;
  readonly pricing: Pricing;
}

export interface SessionStock {
  readonly inventoryId: string;
  readonly sessionId: string;
  issued: number;
  cancelled: number;
}

export interface ProductOffer {
  readonly type: 'PRODUCT';
  readonly offerId: string;
  readonly merchandise: Merchandise;
  readonly taxRate: number;
  readonly pricings: Pricing[];
  readonly variants: { readonly inventoryId: string; sold: number }[];
  readonly heldBy: readonly EventOnSale[];
}

export interface BundleOffer {
  readonly type: 'BUNDLE';
  readonly offerId: string;
  readonly pricingId: string;
  readonly contents: Package;
  readonly parts: BundlePart[];
  readonly heldBy: readonly EventOnSale[];
}

/** An offer in a bundle, sold at a pricing of that offer which names the bundle. */
export type BundlePart =
  | {
      readonly offer: TicketOffer;
      readonly event: EventOnSale;
      readonly pricing: Pricing;
      readonly quantity: number;
    }
  | {
      readonly offer: ProductOffer;
      readonly event: null;
      readonly pricing: Pricing;
      readonly quantity: number;
    };

export interface EventOnSale {
  readonly eventId: string;
  readonly title: string;
  readonly production: Production;
  readonly clock: ZoneClock;
  readonly createdAt: Seconds;
  readonly updatedAt: Seconds;
  readonly sessions: readonly Session[];
  readonly categories: readonly TicketOffer[];
  readonly extras: readonly TicketOffer[];
  /** Number of tickets still to be issued. */
  remaining: number;
}

export interface Session {
  readonly sessionId: string;
  readonly start: Seconds;
  /** The start as it appears in records. */
  readonly startAt: string;
  readonly minutes: number;
}

/** Creates the offer of a seat category, with a pricing for each rate. */
export function createCategoryOffer(
  category: Category,
  sessionIds: string[],
  profile: Profile,
  ids: Identifiers,
): TicketOffer {
  return {
    type: 'TICKET',
    offerId: ids.next('off_'),
    name: category.name,
    description: category.description ?? null,
    compareAtPrice: category.compareAtPrice ?? null,
    taxRate: profile.taxRate,
    seating: category.seating,
    form: category.form,
    pricings: profile.rates.map((rate) => ({
      pricingId: ids.next('prc_'),
      name: rate.name,
      price: percentOf(category.price, rate.percent, profile.priceStep),
      bundleOfferId: null,
      resaleEnabled: rate.resale,
    })),
    options: [],
    stock: emptyStock(sessionIds, ids),
  };
}

/** Creates the offer of an extra and adds it to the options of the categories it is priced for. */
export function createExtraOffer(
  extra: Extra,
  categories: readonly TicketOffer[],
  sessionIds: string[],
  profile: Profile,
  ids: Identifiers,
): TicketOffer {
  const offer: TicketOffer = {
    type: 'TICKET',
    offerId: ids.next('off_'),
    name: extra.name,
    description: extra.description ?? null,
    compareAtPrice: null,
    taxRate: profile.taxRate,
    seating: undefined,
    form: undefined,
    pricings: [],
    options: [],
    stock: emptyStock(sessionIds, ids),
  };
  for (const [category, { name, price }] of extra.pricings.entries()) {
    const pricing = { ...ownPricing(name, price, ids), resaleEnabled: false };
    offer.pricings.push(pricing);
    categories[category].options.push({ offer, pricing });
  }
  return offer;
}

/**
 * Creates the offer of a piece of merchandise. The first pricing is for sales without a ticket. The second, if any, is
 * an option of the first category of each event that holds the product.
 */
export function createProductOffer(
  merchandise: Merchandise,
  heldBy: readonly EventOnSale[],
  profile: Profile,
  ids: Identifiers,
): ProductOffer {
  const offer: ProductOffer = {
    type: 'PRODUCT',
    offerId: ids.next('off_'),
    merchandise,
    taxRate: merchandise.taxRate ?? profile.taxRate,
    pricings: [ownPricing(profile.shopRate, merchandise.price, ids)],
    variants: merchandise.variants.map(() => ({ inventoryId: ids.next('inv_'), sold: 0 })),
    heldBy,
  };
  if (merchandise.priceWithTicket !== undefined) {
    const pricing = ownPricing(profile.withTicketRate, merchandise.priceWithTicket, ids);
    offer.pricings.push(pricing);
    for (const event of heldBy) event.categories[0].options.push({ offer, pricing });
  }
  return offer;
}

/** Creates the offer of a package and adds a pricing to each part; undefined with fewer than two parts. */
export function createBundleOffer(
  contents: Package,
  heldBy: readonly EventOnSale[],
  product: ProductOffer | undefined,
  profile: Profile,
  ids: Identifiers,
): BundleOffer | undefined {
  if (heldBy.length === 0 || heldBy.length + (product ? 1 : 0) < 2) return undefined;
  const offerId = ids.next('off_');
  const priced = (offer: TicketOffer | ProductOffer): Pricing => {
    const pricing = {
      pricingId: ids.next('prc_'),
      name: contents.name,
      price: percentOf(offer.pricings[0].price, contents.percent, profile.priceStep),
      bundleOfferId: offerId,
      resaleEnabled: false,
    };
    offer.pricings.push(pricing);
    return pricing;
  };
  const parts: BundlePart[] = heldBy.map((event) => {
    const offer = event.categories[0];
    return { offer, event, pricing: priced(offer), quantity: contents.ticketsEach };
  });
  if (product) parts.push({ offer: product, event: null, pricing: priced(product), quantity: 1 });
  return { type: 'BUNDLE', offerId, pricingId: ids.next('prc_'), contents, parts, heldBy };
}

function ownPricing(name: string, price: number, ids: Identifiers): Pricing {
  return { pricingId: ids.next('prc_'), name, price, bundleOfferId: null, resaleEnabled: false };
}

function emptyStock(sessionIds: string[], ids: Identifiers): SessionStock[] {
  return sessionIds.map((sessionId) => ({
    inventoryId: ids.next('inv_'),
    sessionId,
    issued: 0,
    cancelled: 0,
  }));
}
