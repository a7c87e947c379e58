import type { Identifiers } from './identifiers.ts';
import { percentOf } from './money.ts';
import type {
  BundleOffer,
  BundlePart,
  Pricing,
  ProductOffer,
  SessionStock,
  StagedEvent,
  TicketOffer,
} from './offers.ts';
import type { Category, Extra, Merchandise, Package, Profile } from './profile.ts';

/** The offer of a seat category, with the usual rates. */
export function categoryOffer(
  category: Category,
  sessionIds: string[],
  profile: Profile,
  ids: Identifiers,
): TicketOffer {
  return {
    type: 'TICKET',
    offerId: ids.next('off_'),
    name: category.name,
    description: category.description,
    compareAtPrice: category.compareAtPrice ?? null,
    taxRate: profile.ticketTaxRate,
    seating: category.seating,
    form: category.form ?? null,
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

/** The offer of an extra, cited by each of `categories` that it goes with: all its own pricings are cited. */
export function extraOffer(
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
    description: extra.description,
    compareAtPrice: null,
    taxRate: profile.ticketTaxRate,
    seating: { kind: 'free' },
    form: null,
    pricings: [],
    options: [],
    stock: emptyStock(sessionIds, ids),
  };
  for (const { name, price, category } of extra.pricings) {
    const pricing = { ...ownPricing(name, price, ids), resaleEnabled: false };
    offer.pricings.push(pricing);
    categories[category].options.push({ offer, pricing });
  }
  return offer;
}

/**
 * The offer of a piece of merchandise. Its first pricing is the shop's, cited by no ticket; the second, where
 * there is one, is cited by the first category of each event that holds it.
 */
export function productOffer(
  merchandise: Merchandise,
  heldBy: readonly StagedEvent[],
  profile: Profile,
  ids: Identifiers,
): ProductOffer {
  const offer: ProductOffer = {
    type: 'PRODUCT',
    offerId: ids.next('off_'),
    merchandise,
    pricings: [ownPricing(profile.shopRate, merchandise.price, ids)],
    variants: merchandise.variants.map(() => ({ inventoryId: ids.next('inv_'), sold: 0 })),
    heldBy,
  };
  if (merchandise.priceWithTicket !== null) {
    const pricing = ownPricing(profile.withTicketRate, merchandise.priceWithTicket, ids);
    offer.pricings.push(pricing);
    for (const event of heldBy) event.categories[0].options.push({ offer, pricing });
  }
  return offer;
}

/** The offer of a package, for which every offer in it gets a pricing; undefined with fewer than two things in it. */
export function bundleOffer(
  contents: Package,
  heldBy: readonly StagedEvent[],
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
