import { percentOf, taxWithin } from './money.ts';
import type { BundleOffer, EventOnSale, Pricing, ProductOffer, TicketOffer } from './offers.ts';
import type { Season } from './season.ts';
import { type Random, ShuffleBag } from './random.ts';

/** A line of an order. */
interface CartLine<O = TicketOffer | ProductOffer> {
  readonly offer: O;
  readonly pricing: Pricing;
  /** The base ticket of an option; null for a line sold by itself. */
  readonly base: CartLine<TicketOffer> | null;
  /** Position of the session in the event, or of the variant of a product. */
  readonly position: number;
  readonly quantity: number;
}

/** A line with its unit prices in minor units, tax included: `unitPaid` is `unitPrice - unitDiscount`. */
export interface PricedLine extends CartLine {
  readonly unitPrice: number;
  readonly unitDiscount: number;
  readonly unitPaid: number;
  readonly unitTax: number;
}

/** Applies a discount in percent to a line if it is a ticket. Bundles and options have their own prices. */
export function priceLine(line: CartLine, percent: number, taxRate: number): PricedLine {
  const { offer, pricing, base } = line;
  const isDiscountable = offer.type === 'TICKET' && base === null && pricing.bundleOfferId === null;
  const unitPrice = pricing.price;
  const unitDiscount = isDiscountable ? percentOf(unitPrice, percent) : 0;
  const unitPaid = unitPrice - unitDiscount;
  return { ...line, unitPrice, unitDiscount, unitPaid, unitTax: taxWithin(unitPaid, taxRate) };
}

/** Sums an amount per unit over all units of the lines. */
export function sumOf(
  lines: readonly PricedLine[],
  unit: 'unitPrice' | 'unitDiscount' | 'unitPaid' | 'unitTax',
): number {
  return lines.reduce((sum, line) => sum + line[unit] * line.quantity, 0);
}

/** The kinds of order, and the numbers of tickets of a line, each with its frequency. */
const KINDS = {
  plain: 8,
  'two rates': 4,
  option: 3,
  merchandise: 1,
  'two events': 2,
  bundle: 1,
  'merchandise only': 1,
};
const PARTY_SIZES = { 1: 9, 2: 11, 3: 3, 4: 2, 6: 1 };

/** Generates the lines of orders. No event sells more tickets than it has left. */
export class CartGenerator {
  readonly #random: Random;
  readonly #kinds: ShuffleBag<keyof typeof KINDS>;
  readonly #partySizes: ShuffleBag<string>;

  constructor(random: Random) {
    this.#random = random;
    this.#kinds = new ShuffleBag(random, KINDS);
    this.#partySizes = new ShuffleBag(random, PARTY_SIZES);
  }

  /** Returns the lines of an order. At least one event of the season must have tickets left. */
  fill(season: Season): CartLine[] {
    const kind = this.#kinds.draw();
    if (kind === 'bundle') {
      const bundles = season.bundles.filter(fits);
      if (bundles.length > 0) return this.#bundle(this.#random.pick(bundles));
    }
    if (kind === 'merchandise only') return this.#merchandise(season);

    const event = this.#eventWithTickets(season);
    const base = this.#tickets(event);
    switch (kind) {
      case 'two rates':
        return [base, ...this.#otherRate(base)];
      case 'option':
        return [base, ...this.#option(base)];
      case 'merchandise':
        return [base, ...this.#merchandise(season)];
      case 'two events': {
        const others = season.events.filter((other) => other !== event && other.remaining > 0);
        return others.length > 0 ? [base, this.#tickets(this.#random.pick(others))] : [base];
      }
      case 'plain':
      case 'bundle':
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

  #tickets(event: EventOnSale): CartLine<TicketOffer> {
    const offer = this.#random.pick(event.categories);
    return {
      offer,
      pricing: this.#rate(offer),
      base: null,
      position: this.#position(offer),
      quantity: Math.min(Number(this.#partySizes.draw()), event.remaining),
    };
  }

  /** Returns further tickets of the same category and session at another rate, such as the children's. */
  #otherRate(base: CartLine<TicketOffer>): CartLine[] {
    const rates = ratesOf(base.offer).filter((rate) => rate !== base.pricing);
    const quantity = Math.min(this.#random.between(1, 3), base.offer.event.remaining - base.quantity);
    return quantity > 0 ? [{ ...base, pricing: this.#random.pick(rates), quantity }] : [];
  }

  /** Returns an option of the base ticket, for some or all of its quantity. */
  #option(base: CartLine<TicketOffer>): CartLine[] {
    if (base.offer.options.length === 0) return [];
    const option = this.#random.pick(base.offer.options);
    const most = this.#random.between(1, base.quantity);
    if (option.offer.type === 'PRODUCT') {
      return [{ ...option, base, position: this.#position(option.offer), quantity: most }];
    }
    const quantity = Math.min(most, base.offer.event.remaining - base.quantity);
    return quantity > 0 ? [{ ...option, base, position: base.position, quantity }] : [];
  }

  /** Returns a piece of merchandise. */
  #merchandise({ products }: Season): CartLine[] {
    const offer = this.#random.pick(products);
    const position = this.#position(offer);
    return [
      { offer, pricing: offer.pricings[0], base: null, position, quantity: this.#random.between(1, 2) },
    ];
  }

  /** Returns the parts of a bundle, each at the bundle's pricing. */
  #bundle({ parts }: BundleOffer): CartLine[] {
    return parts.map((part) => ({ ...part, base: null, position: this.#position(part.offer) }));
  }

  /** Draws a session or variant. */
  #position({ stock }: TicketOffer | ProductOffer): number {
    return this.#random.below(stock.length);
  }

  /** Draws a rate, in two of three cases the usual one. */
  #rate(offer: TicketOffer): Pricing {
    const rates = ratesOf(offer);
    return this.#random.chance(2 / 3) ? rates[0] : this.#random.pick(rates);
  }
}

/** Returns the pricings at which an offer is sold outside bundles. */
function ratesOf({ pricings }: TicketOffer): Pricing[] {
  return pricings.filter(({ bundleOfferId }) => bundleOfferId === null);
}

function fits({ parts }: BundleOffer): boolean {
  return parts.every(({ offer, quantity }) => offer.type === 'PRODUCT' || offer.event.remaining >= quantity);
}
