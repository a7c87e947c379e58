import type { BundleOffer, EventOnSale, Pricing, ProductOffer, TicketOffer } from './offers.ts';
import { type Random, ShuffleBag } from './random.ts';
import type { Season } from './season.ts';

export type CartLine = TicketLine | ProductLine;

export interface TicketLine {
  readonly type: 'TICKET';
  readonly offer: TicketOffer;
  readonly pricing: Pricing;
  /** The base ticket of an option; null for a line sold by itself. */
  readonly base: TicketLine | null;
  readonly event: EventOnSale;
  /** Position of the session in the event. */
  readonly session: number;
  readonly quantity: number;
}

export interface ProductLine {
  readonly type: 'PRODUCT';
  readonly offer: ProductOffer;
  readonly pricing: Pricing;
  readonly base: TicketLine | null;
  readonly variant: number;
  readonly quantity: number;
}

type Kind = 'plain' | 'two rates' | 'option' | 'merchandise' | 'two events' | 'bundle' | 'merchandise only';

/** Generates the lines of orders. No event sells more tickets than it has left. */
export class CartGenerator {
  readonly #random: Random;
  readonly #kinds: ShuffleBag<Kind>;
  readonly #partySizes: ShuffleBag<number>;

  constructor(random: Random) {
    this.#random = random;
    this.#kinds = new ShuffleBag<Kind>(random, [
      ['plain', 8],
      ['two rates', 4],
      ['option', 3],
      ['merchandise', 1],
      ['two events', 2],
      ['bundle', 1],
      ['merchandise only', 1],
    ]);
    this.#partySizes = new ShuffleBag(random, [
      [1, 9],
      [2, 11],
      [3, 3],
      [4, 2],
      [6, 1],
    ]);
  }

  /** Returns the lines of an order. At least one event of the season must have tickets left. */
  fill(season: Season): CartLine[] {
    const kind = this.#kinds.draw();
    if (kind === 'bundle') {
      const bundles = season.bundles.filter(fits);
      if (bundles.length > 0) return this.#bundle(this.#random.pick(bundles));
    }
    if (kind === 'merchandise only' && season.products.length > 0)
      return [this.#merchandise(season.products)];

    const event = this.#eventWithTickets(season);
    const base = this.#tickets(event);
    switch (kind) {
      case 'two rates':
        return [base, ...this.#otherRate(base)];
      case 'option':
        return [base, ...this.#option(base)];
      case 'merchandise':
        return season.products.length > 0 ? [base, this.#merchandise(season.products)] : [base];
      case 'two events': {
        const others = season.events.filter((other) => other !== event && other.remaining > 0);
        return others.length > 0 ? [base, this.#tickets(this.#random.pick(others))] : [base];
      }
      case 'plain':
      case 'bundle':
      case 'merchandise only':
        return [base];
    }
  }

  /** Draws an event, weighted by the tickets left, so that all sell out at about the same pace. */
  #eventWithTickets({ events }: Season): EventOnSale {
    let position = this.#random.below(events.reduce((sum, { remaining }) => sum + remaining, 0));
    for (const event of events) {
      position -= event.remaining;
      if (position < 0) return event;
    }
    throw new RangeError('no event of the season has tickets left');
  }

  #tickets(event: EventOnSale): TicketLine {
    const offer = this.#random.pick(event.categories);
    return {
      type: 'TICKET',
      offer,
      pricing: this.#rate(offer),
      base: null,
      event,
      session: this.#random.below(event.sessions.length),
      quantity: Math.min(this.#partySizes.draw(), event.remaining),
    };
  }

  /** Returns further tickets of the same category and session at another rate, such as the children's. */
  #otherRate(base: TicketLine): TicketLine[] {
    const rates = base.offer.pricings.filter(
      (pricing) => pricing.bundleOfferId === null && pricing !== base.pricing,
    );
    const quantity = Math.min(this.#random.between(1, 3), base.event.remaining - base.quantity);
    return quantity > 0 ? [{ ...base, pricing: this.#random.pick(rates), quantity }] : [];
  }

  /** Returns an option of the base ticket, for some or all of its quantity. */
  #option(base: TicketLine): CartLine[] {
    if (base.offer.options.length === 0) return [];
    const { offer, pricing } = this.#random.pick(base.offer.options);
    const most = this.#random.between(1, base.quantity);
    if (offer.type === 'PRODUCT') {
      const variant = this.#random.below(offer.variants.length);
      return [{ type: 'PRODUCT', offer, pricing, base, variant, quantity: most }];
    }
    const quantity = Math.min(most, base.event.remaining - base.quantity);
    return quantity > 0 ? [{ ...base, offer, pricing, base, quantity }] : [];
  }

  #merchandise(products: readonly ProductOffer[]): ProductLine {
    const offer = this.#random.pick(products);
    const variant = this.#random.below(offer.variants.length);
    const quantity = this.#random.between(1, 2);
    return { type: 'PRODUCT', offer, pricing: offer.pricings[0], base: null, variant, quantity };
  }

  /** Returns the parts of a bundle, each at the bundle's pricing. */
  #bundle({ parts }: BundleOffer): CartLine[] {
    return parts.map(({ offer, event, pricing, quantity }) => {
      const common = { pricing, base: null, quantity };
      return event === null
        ? { ...common, type: 'PRODUCT', offer, variant: this.#random.below(offer.variants.length) }
        : { ...common, type: 'TICKET', offer, event, session: this.#random.below(event.sessions.length) };
    });
  }

  /** Draws a rate, in two of three cases the usual one. */
  #rate(offer: TicketOffer): Pricing {
    const own = offer.pricings.filter(({ bundleOfferId }) => bundleOfferId === null);
    return this.#random.chance(2 / 3) ? own[0] : this.#random.pick(own);
  }
}

function fits({ parts }: BundleOffer): boolean {
  return parts.every(({ event, quantity }) => event === null || event.remaining >= quantity);
}
