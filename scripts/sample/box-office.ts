import { CartGenerator, type PricedLine, priceLine, sumOf } from './cart.ts';
import { clockOf, DAY, HOUR, MINUTE, type Seconds, writeUtc } from './clock.ts';
import type { Buyer, Customers } from './customers.ts';
import { percentOf } from './money.ts';
import type { Profile, SalesChannel } from './profile.ts';
import { type Random, ShuffleBag } from './random.ts';
import type { SampleContext, Season } from './season.ts';

/** Sales close this long before the first session of an order; changes close an hour later. */
const CLOSING = 2 * HOUR;

type Outcome = 'pending' | 'fulfilled' | 'cancelled' | 'partly refunded';
type Delivery = 'home_delivery' | 'pickup_point' | 'on_site';
const ADD_ONS = ['INSURANCE', 'DONATION'] as const;

/** Fees and amounts in price steps. */
const HOME_DELIVERY_FEE = 10;
const PICKUP_FEE = 5;
const DONATIONS = [2, 10, 40];
const INSURANCE_PERCENT = 6;
const PAYMENTS = [
  { provider: 'stripe', method: 'card' },
  { provider: 'adyen', method: 'apple_pay' },
  { provider: 'paypal', method: 'paypal' },
];

/** An order with all that is drawn for it. Amounts are in minor units. */
export type Sale = ReturnType<BoxOffice['sell']>;

/** Takes orders, for any organization. */
export class BoxOffice {
  readonly #context: SampleContext;
  readonly #carts: CartGenerator;
  readonly #outcomes: ShuffleBag<Outcome>;
  readonly #prices: ShuffleBag<'full' | 'discounted'>;
  readonly #channels: ShuffleBag<string>;
  readonly #deliveries: ShuffleBag<Delivery>;
  readonly #addOns: ShuffleBag<string>;

  constructor(context: SampleContext) {
    const { random } = context;
    this.#context = context;
    this.#carts = new CartGenerator(random);
    this.#outcomes = new ShuffleBag(random, {
      fulfilled: 14,
      pending: 2,
      cancelled: 2,
      'partly refunded': 2,
    });
    this.#prices = new ShuffleBag(random, { discounted: 1, full: 6 });
    this.#channels = new ShuffleBag(random, { 0: 6, 1: 2, 2: 1 });
    this.#deliveries = new ShuffleBag(random, { on_site: 6, home_delivery: 1, pickup_point: 1 });
    this.#addOns = new ShuffleBag(random, { none: 8, INSURANCE: 2, DONATION: 1, 'INSURANCE, DONATION': 1 });
  }

  /**
   * Sells one more order of a season that has tickets left.
   * @param number of the order in its organization, from 1
   */
  sell(season: Season, customers: Customers, number: number) {
    const { random, ids, reference } = this.#context;
    const { profile } = season;
    const cart = this.#carts.fill(season);
    const discount = this.#prices.draw() === 'discounted' ? random.pick(profile.discounts) : null;
    const lines = cart.map((line) => priceLine(line, discount?.percent ?? 0, profile.taxRate));
    const firstStart = Math.min(...lines.map(startOf));
    const drawn = this.#outcomes.draw();
    const outcome = isPossible(drawn, lines, firstStart > reference) ? drawn : 'fulfilled';
    const closing = Math.min(reference, firstStart) - CLOSING;
    const times = drawTimes(outcome, season.openedAt, closing, random);

    const { offer } = lines[0];
    const clock = offer.type === 'TICKET' ? offer.event.clock : clockOf(profile.zone);
    const fraction = this.#fraction();
    const createdAt = clock.write(times.createdAt, fraction);
    const buyer = customers.draw(random);
    const channel = profile.salesChannels[Number(this.#channels.draw())];
    const digits = String(number).padStart(6, '0');
    return {
      profile,
      orderId: ids.next('ord_'),
      orderNumber: profile.orderNumberPrefix + digits,
      invoiceReference: `${profile.invoicePrefix}${createdAt.slice(0, 4)}-${digits}`,
      lines,
      discount,
      outcome,
      /** Number of tickets of the first line that were cancelled alone. */
      refundedTickets: outcome === 'partly refunded' ? random.between(1, lines[0].quantity - 1) : 0,
      times,
      createdAt,
      fulfilledAt: times.fulfilledAt === null ? null : clock.write(times.fulfilledAt, fraction),
      // Changes come from the back office, which writes UTC.
      changedAt: times.changedAt === null ? null : writeUtc(times.changedAt, fraction),
      buyer,
      channel,
      delivery: this.#delivery(profile, channel, buyer),
      addOns: this.#addOnsOf(profile, sumOf(lines, 'unitPaid')),
      payment: this.#payment(channel),
      optIns: profile.optIns.map((name) => ({ name, accepted: random.chance(0.35) })),
    };
  }

  /** Draws a fraction of a second, as different systems write them: mostly none, some of 3 or 6 digits. */
  #fraction(): string {
    const { random } = this.#context;
    const kind = random.fraction();
    if (kind < 0.7) return '';
    const digits = kind < 0.9 ? 3 : 6;
    return `.${String(random.below(10 ** digits)).padStart(digits, '0')}`;
  }

  /** Draws the order's `delivery` and its fee. */
  #delivery(
    { carriers, pickupPoints, priceStep, countryCode }: Profile,
    channel: SalesChannel,
    buyer: Buyer,
  ) {
    const type = channel.issuanceChannel === 'BOX_OFFICE' ? 'on_site' : this.#deliveries.draw();
    const none = { type, carrierId: null, homeDeliveryAddress: null, pickupPoint: null };
    switch (type) {
      case 'on_site':
        return { fee: 0, record: none };
      case 'home_delivery': {
        const record = { ...none, carrierId: carriers.home, homeDeliveryAddress: buyer.deliveryAddress };
        return { fee: HOME_DELIVERY_FEE * priceStep, record };
      }
      case 'pickup_point': {
        const [pickupPointId, name, addressLine1, city, postalCode] = this.#context.random.pick(pickupPoints);
        const pickupPoint = { pickupPointId, name, addressLine1, city, postalCode, countryCode };
        return { fee: PICKUP_FEE * priceStep, record: { ...none, carrierId: carriers.pickup, pickupPoint } };
      }
    }
  }

  /** Draws add-ons with their prices. Free ones are left out. */
  #addOnsOf({ insurance, donation, priceStep }: Profile, subtotalPaid: number) {
    const drawn = this.#addOns.draw();
    return ADD_ONS.filter((category) => drawn.includes(category)).flatMap((category) => {
      const [service, price] =
        category === 'INSURANCE'
          ? [insurance, percentOf(subtotalPaid, INSURANCE_PERCENT)]
          : [donation, this.#context.random.pick(DONATIONS) * priceStep];
      return price > 0 ? [{ category, ...service, price }] : [];
    });
  }

  /** Draws a payment; cash has no provider. */
  #payment(channel: SalesChannel): { provider: string | null; method: string } {
    const { random } = this.#context;
    const cash = channel.issuanceChannel === 'BOX_OFFICE' && random.chance(0.5);
    return cash ? { provider: null, method: 'cash' } : random.pick(PAYMENTS);
  }
}

/** Returns the start of the session of a line; infinity for a product. */
function startOf({ offer, position }: PricedLine): Seconds {
  return offer.type === 'TICKET' ? offer.event.sessions[position].start : Infinity;
}

/** Reports whether an order can have an outcome. Only orders for upcoming sessions are pending. */
function isPossible(outcome: Outcome, lines: readonly PricedLine[], isUpcoming: boolean): boolean {
  if (outcome === 'pending') return isUpcoming;
  return outcome !== 'partly refunded' || isPartlyRefundable(lines);
}

/** Reports whether the first line has several paid tickets, outside a bundle and without options. */
function isPartlyRefundable([first, ...others]: readonly PricedLine[]): boolean {
  return (
    first.offer.type === 'TICKET' &&
    first.quantity > 1 &&
    first.unitPaid > 0 &&
    first.pricing.bundleOfferId === null &&
    others.every(({ base }) => base === null)
  );
}

/** Draws the times of an order between the opening and closing of sales, more often late. */
function drawTimes(outcome: Outcome, opening: Seconds, closing: Seconds, random: Random) {
  /** End of all changes except admission. */
  const closedAt = closing + HOUR;
  if (outcome === 'pending') {
    const createdAt = Math.max(opening, closing - random.below(3 * DAY));
    return { createdAt, fulfilledAt: null, changedAt: null, closedAt };
  }
  const createdAt = closing - Math.floor((closing - opening) * random.fraction() ** 2);
  const fulfilledAt = createdAt + random.between(4, 90);
  const changedAt = outcome === 'fulfilled' ? null : timeAfter(fulfilledAt, closedAt, random);
  return { createdAt, fulfilledAt, changedAt, closedAt };
}

/** Draws a time at least a minute after `start` and before `end`, more often early. */
export function timeAfter(start: Seconds, end: Seconds, random: Random): Seconds {
  const earliest = start + MINUTE;
  return earliest + Math.floor((end - earliest) * random.fraction() ** 2);
}
