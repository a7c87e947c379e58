import { clockOf, DAY, MINUTE, type Seconds, sessionStarts, type ZoneClock } from './clock.ts';
import { percentOf } from './money.ts';
import type { Category, Extra, Merchandise, Package, Production, Profile } from './profile.ts';
import type { Identifiers, Random } from './random.ts';

/** Sales of all events of a season open at least this long before its first session. */
const PRESALE = 30 * DAY;
/** Further seasons lie up to four years back, by whole weeks, so that weekdays stay the same. */
const YEARS = 4;
const WEEKS_A_YEAR = 52;

/** State shared by all parts of the generator. */
export interface SampleContext {
  readonly random: Random;
  readonly ids: Identifiers;
  /** The present time of the sample: no record was created, changed or sold later. */
  readonly reference: Seconds;
}

/**
 * Events of an organization that are sold together, at most one for each production, and their offers. Prices are in
 * minor units. The generator keeps one season in memory at a time.
 */
export interface Season {
  readonly profile: Profile;
  /** Start of sales; never after the reference time. */
  readonly openedAt: Seconds;
  readonly events: readonly EventOnSale[];
  readonly products: readonly ProductOffer[];
  readonly bundles: readonly BundleOffer[];
}

export interface EventOnSale {
  readonly eventId: string;
  readonly title: string;
  readonly production: Production;
  readonly clock: ZoneClock;
  readonly createdAt: Seconds;
  readonly updatedAt: Seconds;
  readonly sessions: readonly Session[];
  readonly categories: TicketOffer[];
  readonly extras: TicketOffer[];
  /** Number of tickets still to be issued. */
  remaining: number;
}

export interface Session {
  readonly sessionId: string;
  readonly start: Seconds;
  /** The start as it appears in records. */
  readonly startAt: string;
}

export interface TicketOffer extends Omit<Category, 'price'> {
  readonly type: 'TICKET';
  readonly offerId: string;
  readonly event: EventOnSale;
  readonly taxRate: number;
  readonly pricings: Pricing[];
  /** Offers sold with a ticket, each at one of its own pricings. */
  readonly options: { readonly offer: TicketOffer | ProductOffer; readonly pricing: Pricing }[];
  /** One for each session of the event, in order. */
  readonly stock: readonly Stock[];
}

export interface ProductOffer extends Merchandise {
  readonly type: 'PRODUCT';
  readonly offerId: string;
  readonly heldBy: readonly EventOnSale[];
  readonly taxRate: number;
  readonly pricings: Pricing[];
  /** One for each variant, in order. */
  readonly stock: readonly Stock[];
}

export interface BundleOffer extends Package {
  readonly type: 'BUNDLE';
  readonly offerId: string;
  readonly heldBy: readonly EventOnSale[];
  readonly pricingId: string;
  /** The offers in the bundle, each sold at a pricing that names the bundle. */
  readonly parts: readonly {
    readonly offer: TicketOffer | ProductOffer;
    readonly pricing: Pricing;
    readonly quantity: number;
  }[];
}

export interface Pricing {
  readonly pricingId: string;
  readonly name: string;
  readonly price: number;
  /** The bundle sold at this price; null for the offer's own pricings. */
  readonly bundleOfferId: string | null;
  readonly resaleEnabled: boolean;
}

export interface Stock {
  readonly inventoryId: string;
  sold: number;
  /** Number of those sold that were cancelled. */
  cancelled: number;
}

/**
 * Creates a season of an organization.
 * @param number of the season, from 0
 * @param quotas the exact number of tickets of each event
 */
export function createSeason(
  profile: Profile,
  number: number,
  quotas: readonly number[],
  { ids, random, reference }: SampleContext,
): Season {
  const weeksBack = (number % YEARS) * WEEKS_A_YEAR + (Math.floor(number / YEARS) % WEEKS_A_YEAR);
  const schedules = profile.productions.slice(0, quotas.length).map((production) => {
    const zone = production.venue?.zone ?? profile.zone;
    const firstDay = production.schedule.firstDay - 7 * weeksBack;
    return { production, zone, starts: sessionStarts({ ...production.schedule, firstDay }, zone, reference) };
  });
  const openedAt = Math.min(reference, ...schedules.map(({ starts }) => starts[0])) - PRESALE;

  const offers = new OfferFactory(profile, ids);
  const events = schedules.map(({ production, zone, starts }, index) => {
    const clock = clockOf(zone);
    const createdAt = openedAt - random.between(5 * DAY, 40 * DAY);
    const event: EventOnSale = {
      eventId: ids.next('evt_'),
      title: number === 0 ? production.title : `${production.title} · ${number + 1}`,
      production,
      clock,
      createdAt,
      updatedAt: random.between(createdAt + MINUTE, reference),
      sessions: starts.map((start) => ({ sessionId: ids.next('ses_'), start, startAt: clock.write(start) })),
      categories: [],
      extras: [],
      remaining: quotas[index],
    };
    event.categories.push(...production.categories.map((category) => offers.category(category, event)));
    event.extras.push(...(production.extras ?? []).map((extra) => offers.extra(extra, event)));
    return event;
  });

  const held = (positions: readonly number[]) =>
    positions.filter((position) => position < events.length).map((position) => events[position]);
  const products = profile.merchandise.map((merchandise) =>
    offers.product(merchandise, merchandise.productions ? held(merchandise.productions) : events),
  );
  const bundles = profile.packages.flatMap((contents) => {
    const product = contents.merchandise === undefined ? [] : [products[contents.merchandise]];
    return offers.bundle(contents, held(contents.productions), product);
  });
  return { profile, openedAt, events, products: products.filter(({ heldBy }) => heldBy.length > 0), bundles };
}

/** Creates the offers of an organization. */
class OfferFactory {
  readonly #profile: Profile;
  readonly #ids: Identifiers;

  constructor(profile: Profile, ids: Identifiers) {
    this.#profile = profile;
    this.#ids = ids;
  }

  /** Creates the offer of a seat category, with a pricing for each rate. */
  category(category: Category, event: EventOnSale): TicketOffer {
    const { rates, priceStep } = this.#profile;
    return {
      ...this.#ticket(category, event),
      pricings: rates.map(({ name, percent, resale }) =>
        this.#pricing(name, percentOf(category.price, percent, priceStep), { resaleEnabled: resale }),
      ),
    };
  }

  /** Creates the offer of an extra and adds it to the options of the categories it is priced for. */
  extra(extra: Extra, event: EventOnSale): TicketOffer {
    const offer = this.#ticket(extra, event);
    for (const [category, { name, price }] of extra.pricings.entries()) {
      const pricing = this.#pricing(name, price);
      offer.pricings.push(pricing);
      event.categories[category].options.push({ offer, pricing });
    }
    return offer;
  }

  /**
   * Creates the offer of a piece of merchandise. The first pricing is for sales without a ticket. The second, if any,
   * is an option of the first category of each event that holds the product.
   */
  product(merchandise: Merchandise, heldBy: readonly EventOnSale[]): ProductOffer {
    const { shopRate, withTicketRate, taxRate } = this.#profile;
    const offer: ProductOffer = {
      taxRate,
      ...merchandise,
      type: 'PRODUCT',
      offerId: this.#ids.next('off_'),
      heldBy,
      pricings: [this.#pricing(shopRate, merchandise.price)],
      stock: merchandise.variants.map(() => this.#stock()),
    };
    if (merchandise.priceWithTicket !== undefined) {
      const pricing = this.#pricing(withTicketRate, merchandise.priceWithTicket);
      offer.pricings.push(pricing);
      for (const { categories } of heldBy) categories[0].options.push({ offer, pricing });
    }
    return offer;
  }

  /** Creates the offer of a package and adds a pricing to each part; none with fewer than two parts. */
  bundle(
    contents: Package,
    heldBy: readonly EventOnSale[],
    products: readonly ProductOffer[],
  ): BundleOffer[] {
    if (heldBy.length === 0 || heldBy.length + products.length < 2) return [];
    const offerId = this.#ids.next('off_');
    const part = (offer: TicketOffer | ProductOffer, quantity: number) => {
      const price = percentOf(offer.pricings[0].price, contents.percent, this.#profile.priceStep);
      const pricing = this.#pricing(contents.name, price, { bundleOfferId: offerId });
      offer.pricings.push(pricing);
      return { offer, pricing, quantity };
    };
    const parts = [
      ...heldBy.map(({ categories }) => part(categories[0], contents.ticketsEach)),
      ...products.map((product) => part(product, 1)),
    ];
    return [{ ...contents, type: 'BUNDLE', offerId, heldBy, pricingId: this.#ids.next('prc_'), parts }];
  }

  #ticket(contents: Omit<Category, 'price'>, event: EventOnSale): TicketOffer {
    return {
      ...contents,
      type: 'TICKET',
      offerId: this.#ids.next('off_'),
      event,
      taxRate: this.#profile.taxRate,
      pricings: [],
      options: [],
      stock: event.sessions.map(() => this.#stock()),
    };
  }

  #pricing(name: string, price: number, more: Partial<Pricing> = {}): Pricing {
    const pricingId = this.#ids.next('prc_');
    return { pricingId, name, price, bundleOfferId: null, resaleEnabled: false, ...more };
  }

  #stock(): Stock {
    return { inventoryId: this.#ids.next('inv_'), sold: 0, cancelled: 0 };
  }
}
