import type { Seconds, ZoneClock } from './clock.ts';
import {
  type Bundle,
  type ExtraName,
  EXTRAS,
  MERCHANDISE,
  type MerchandiseName,
  type OfferName,
  type Production,
  RATES,
  type SeatName,
  SEATS,
} from './model.ts';
import { percentOf } from './money.ts';
import type { Form, Profile } from './profile.ts';
import type { Identifiers } from './random.ts';

/** The events of a season and their offers. Prices are in minor units. */

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

interface Offer {
  readonly offerId: string;
  readonly name: string;
  readonly description: string | null;
}

export interface TicketOffer extends Offer {
  readonly type: 'TICKET';
  readonly event: EventOnSale;
  readonly compareAtPrice: number | null;
  /** Null for free seating. */
  readonly seating: Seating | null;
  readonly form: Form | null;
  readonly pricings: Pricing[];
  /** Offers sold with a ticket, each at one of its own pricings. */
  readonly options: { readonly offer: TicketOffer | ProductOffer; readonly pricing: Pricing }[];
  /** One for each session of the event, in order. */
  readonly stock: readonly Stock[];
}

/** Named blocs, with numbered seats or as an area. */
export interface Seating {
  readonly blocs: readonly string[];
  readonly numbered: { readonly rows: number; readonly seatsPerRow: number } | null;
}

export interface ProductOffer extends Offer {
  readonly type: 'PRODUCT';
  readonly image: string;
  readonly heldBy: readonly EventOnSale[];
  readonly compareAtPrice: number | null;
  readonly weightInGrams: number;
  readonly optionLabels: readonly string[];
  readonly pricings: Pricing[];
  /** The options of each variant, and its stock. */
  readonly variants: readonly (readonly string[])[];
  readonly stock: readonly Stock[];
}

export interface BundleOffer extends Offer {
  readonly type: 'BUNDLE';
  readonly image: string;
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

/** Creates the offers of an organization. */
export class OfferFactory {
  readonly #profile: Profile;
  readonly #ids: Identifiers;

  constructor(profile: Profile, ids: Identifiers) {
    this.#profile = profile;
    this.#ids = ids;
  }

  /** Creates the offer of a seat category, with a pricing for each rate. */
  category(name: SeatName, event: EventOnSale): TicketOffer {
    const {
      rates,
      priceStep,
      blocs: { [name]: blocs },
      form,
    } = this.#profile;
    const { price, compareAtPrice, numbered = null, hasForm } = SEATS[name];
    return {
      ...this.#ticket(name, event),
      compareAtPrice: compareAtPrice ? compareAtPrice * priceStep : null,
      seating: blocs ? { blocs, numbered } : null,
      form: hasForm ? form : null,
      pricings: RATES.map(({ percent, resaleEnabled }, rate) =>
        this.#pricing(rates[rate], percentOf(price * priceStep, percent, priceStep), { resaleEnabled }),
      ),
    };
  }

  /** Creates the offer of an extra and adds it to the options of the categories it is priced for. */
  extra(name: ExtraName, event: EventOnSale): TicketOffer {
    const offer = this.#ticket(name, event);
    for (const [position, price] of EXTRAS[name].entries()) {
      const category = event.categories[position];
      const pricing = this.#pricing(`${offer.name}, ${category.name}`, price * this.#profile.priceStep);
      offer.pricings.push(pricing);
      category.options.push({ offer, pricing });
    }
    return offer;
  }

  /**
   * Creates the offer of a piece of merchandise. The first pricing is for sales without a ticket. The second, if any,
   * is an option of the first category of each event.
   */
  product(name: MerchandiseName, heldBy: readonly EventOnSale[]): ProductOffer {
    const { shopRate, withTicketRate, priceStep, optionLabels, variants } = this.#profile;
    const { price, compareAtPrice, priceWithTicket, weightInGrams, hasVariants } = MERCHANDISE[name];
    const options = hasVariants ? variants : [[]];
    const offer: ProductOffer = {
      ...this.#offer(name),
      type: 'PRODUCT',
      image: name,
      heldBy,
      compareAtPrice: compareAtPrice ? compareAtPrice * priceStep : null,
      optionLabels: hasVariants ? optionLabels : [],
      variants: options,
      weightInGrams,
      pricings: [this.#pricing(shopRate, price * priceStep)],
      stock: options.map(() => this.#stock()),
    };
    if (priceWithTicket) {
      const pricing = this.#pricing(withTicketRate, priceWithTicket * priceStep);
      offer.pricings.push(pricing);
      for (const { categories } of heldBy) categories[0].options.push({ offer, pricing });
    }
    return offer;
  }

  /** Creates the offer of a bundle and adds a pricing to each part; none with fewer than two parts. */
  bundle(
    { name, percent, ticketsEach }: Bundle,
    heldBy: readonly EventOnSale[],
    products: readonly ProductOffer[],
  ): BundleOffer[] {
    if (heldBy.length === 0 || heldBy.length + products.length < 2) return [];
    const bundle = this.#offer(name);
    const part = (offer: TicketOffer | ProductOffer, quantity: number) => {
      const price = percentOf(offer.pricings[0].price, percent, this.#profile.priceStep);
      const pricing = this.#pricing(bundle.name, price, { bundleOfferId: bundle.offerId });
      offer.pricings.push(pricing);
      return { offer, pricing, quantity };
    };
    const parts = [
      ...heldBy.map(({ categories }) => part(categories[0], ticketsEach)),
      ...products.map((product) => part(product, 1)),
    ];
    return [{ ...bundle, type: 'BUNDLE', image: name, heldBy, pricingId: this.#ids.next('prc_'), parts }];
  }

  #ticket(name: OfferName, event: EventOnSale): TicketOffer {
    return {
      ...this.#offer(name),
      type: 'TICKET',
      event,
      compareAtPrice: null,
      seating: null,
      form: null,
      pricings: [],
      options: [],
      stock: event.sessions.map(() => this.#stock()),
    };
  }

  #offer(name: OfferName): Offer {
    const [label, description = null] = this.#profile.offers[name];
    return { offerId: this.#ids.next('off_'), name: label, description };
  }

  #pricing(name: string, price: number, more: Partial<Pricing> = {}): Pricing {
    const pricingId = this.#ids.next('prc_');
    return { pricingId, name, price, bundleOfferId: null, resaleEnabled: false, ...more };
  }

  #stock(): Stock {
    return { inventoryId: this.#ids.next('inv_'), sold: 0, cancelled: 0 };
  }
}
