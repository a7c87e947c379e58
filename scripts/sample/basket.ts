import { Deck } from './deck.ts';
import type { BundleOffer, Pricing, ProductOffer, StagedEvent, TicketOffer } from './offers.ts';
import type { Random } from './random.ts';
import type { Season } from './season.ts';

export type Line = TicketLine | ProductLine;

export interface TicketLine {
  readonly type: 'TICKET';
  readonly offer: TicketOffer;
  readonly pricing: Pricing;
  /** The ticket under which it is sold as an option; null when it is sold by itself. */
  readonly under: TicketLine | null;
  readonly event: StagedEvent;
  /** Position of the session in the event. */
  readonly session: number;
  readonly quantity: number;
}

export interface ProductLine {
  readonly type: 'PRODUCT';
  readonly offer: ProductOffer;
  readonly pricing: Pricing;
  readonly under: TicketLine | null;
  readonly variant: number;
  readonly quantity: number;
}

type Kind = 'plain' | 'two rates' | 'option' | 'souvenir' | 'two events' | 'bundle' | 'shop only';

/** Fills baskets so that no event sells more tickets than it has left. */
export class Basketry {
  readonly #random: Random;
  readonly #kinds: Deck<Kind>;
  readonly #parties: Deck<number>;

  constructor(random: Random) {
    this.#random = random;
    this.#kinds = new Deck<Kind>(random, [
      ['plain', 8],
      ['two rates', 4],
      ['option', 3],
      ['souvenir', 1],
      ['two events', 2],
      ['bundle', 1],
      ['shop only', 1],
    ]);
    this.#parties = new Deck(random, [
      [1, 9],
      [2, 11],
      [3, 3],
      [4, 2],
      [6, 1],
    ]);
  }

  /** The lines of an order; at least one event of the season must have tickets left. */
  fill(season: Season): Line[] {
    const kind = this.#kinds.draw();
    if (kind === 'bundle') {
      const bundles = season.bundles.filter(fits);
      if (bundles.length > 0) return this.#bundle(this.#random.pick(bundles));
    }
    if (kind === 'shop only' && season.products.length > 0) return [this.#souvenir(season.products)];

    const event = this.#eventWithTickets(season);
    const base = this.#tickets(event);
    switch (kind) {
      case 'two rates':
        return [base, ...this.#otherRate(base)];
      case 'option':
        return [base, ...this.#option(base)];
      case 'souvenir':
        return season.products.length > 0 ? [base, this.#souvenir(season.products)] : [base];
      case 'two events': {
        const others = season.events.filter((other) => other !== event && other.remaining > 0);
        return others.length > 0 ? [base, this.#tickets(this.#random.pick(others))] : [base];
      }
      case 'plain':
      case 'bundle':
      case 'shop only':
        return [base];
    }
  }

  /** An event, by the tickets it has left: all of them sell out at about the same pace. */
  #eventWithTickets({ events }: Season): StagedEvent {
    let position = this.#random.below(events.reduce((sum, { remaining }) => sum + remaining, 0));
    for (const event of events) {
      position -= event.remaining;
      if (position < 0) return event;
    }
    throw new RangeError('no event of the season has tickets left');
  }

  #tickets(event: StagedEvent): TicketLine {
    const offer = this.#random.pick(event.categories);
    return {
      type: 'TICKET',
      offer,
      pricing: this.#rate(offer),
      under: null,
      event,
      session: this.#random.below(event.sessions.length),
      quantity: Math.min(this.#parties.draw(), event.remaining),
    };
  }

  /** More tickets for the same seats and session, such as children's. */
  #otherRate(base: TicketLine): TicketLine[] {
    const rates = base.offer.pricings.filter(
      (pricing) => pricing.bundleOfferId === null && pricing !== base.pricing,
    );
    const quantity = Math.min(this.#random.between(1, 3), base.event.remaining - base.quantity);
    return quantity > 0 ? [{ ...base, pricing: this.#random.pick(rates), quantity }] : [];
  }

  /** An option of the base ticket, for some or all of its party. */
  #option(base: TicketLine): Line[] {
    if (base.offer.options.length === 0) return [];
    const { offer, pricing } = this.#random.pick(base.offer.options);
    const most = this.#random.between(1, base.quantity);
    if (offer.type === 'PRODUCT') {
      const variant = this.#random.below(offer.variants.length);
      return [{ type: 'PRODUCT', offer, pricing, under: base, variant, quantity: most }];
    }
    const quantity = Math.min(most, base.event.remaining - base.quantity);
    return quantity > 0 ? [{ ...base, offer, pricing, under: base, quantity }] : [];
  }

  #souvenir(products: readonly ProductOffer[]): ProductLine {
    const offer = this.#random.pick(products);
    const variant = this.#random.below(offer.variants.length);
    const quantity = this.#random.between(1, 2);
    return { type: 'PRODUCT', offer, pricing: offer.pricings[0], under: null, variant, quantity };
  }

  /** What a bundle contains, each at the pricing that the bundle sells. */
  #bundle({ parts }: BundleOffer): Line[] {
    return parts.map(({ offer, event, pricing, quantity }) =>
      event === null
        ? {
            type: 'PRODUCT',
            offer,
            pricing,
            under: null,
            variant: this.#random.below(offer.variants.length),
            quantity,
          }
        : {
            type: 'TICKET',
            offer,
            pricing,
            under: null,
            event,
            session: this.#random.below(event.sessions.length),
            quantity,
          },
    );
  }

  /** The usual rate twice in three times. */
  #rate(offer: TicketOffer): Pricing {
    const own = offer.pricings.filter(({ bundleOfferId }) => bundleOfferId === null);
    return this.#random.chance(2 / 3) ? own[0] : this.#random.pick(own);
  }
}

function fits({ parts }: BundleOffer): boolean {
  return parts.every(({ event, quantity }) => event === null || event.remaining >= quantity);
}
