import { CartGenerator, type CartLine } from './cart.ts';
import { Checkout } from './checkout.ts';
import { type Seconds, writeUtc } from './clock.ts';
import type { Customers } from './customers.ts';
import { type OrderDetails, orderRecord, type PricedLine, priceLine, sumOf } from './order-record.ts';
import { drawTimeline, type OrderTimeline, type Outcome } from './order-timeline.ts';
import { ShuffleBag } from './random.ts';
import type { SampleContext, Season } from './season.ts';
import { issueTicket } from './tickets.ts';

/** Takes orders and issues their tickets, for any organization. */
export class BoxOffice {
  readonly #context: SampleContext;
  readonly #carts: CartGenerator;
  readonly #checkout: Checkout;
  readonly #outcomes: ShuffleBag<Outcome>;
  readonly #discounted: ShuffleBag<boolean>;

  constructor(context: SampleContext) {
    const { random } = context;
    this.#context = context;
    this.#carts = new CartGenerator(random);
    this.#checkout = new Checkout(random);
    this.#outcomes = new ShuffleBag<Outcome>(random, [
      ['fulfilled', 14],
      ['pending', 2],
      ['cancelled', 2],
      ['partly refunded', 2],
    ]);
    this.#discounted = new ShuffleBag(random, [
      [true, 1],
      [false, 6],
    ]);
  }

  /**
   * Sells one more order of a season that has tickets left. Returns the records of the order and of its tickets: as
   * many as the quantities of its TICKET items, none while the order is pending.
   * @param number of the order in its organization, from 1
   */
  sell(season: Season, customers: Customers, number: number) {
    const { random, ids, reference, clockOf } = this.#context;
    const { organization } = season;
    const { profile } = organization;
    const cart = this.#carts.fill(season);
    const discount = this.#discounted.draw() ? random.pick(profile.discounts) : null;
    const lines = cart.map((line) => priceLine(line, discount));
    const firstStart = firstStartOf(cart);
    const drawn = this.#outcomes.draw();
    const outcome = isPossible(drawn, lines, firstStart > reference) ? drawn : 'fulfilled';
    const timeline = drawTimeline(outcome, { openedAt: season.openedAt, reference, firstStart }, random);

    const clock = cart[0].type === 'TICKET' ? cart[0].event.clock : clockOf(profile.zone);
    const fraction = this.#fraction();
    const buyer = customers.draw(random);
    const channel = this.#checkout.channel(profile);
    const digits = String(number).padStart(6, '0');
    const details: OrderDetails = {
      organization,
      orderId: ids.next('ord_'),
      orderNumber: profile.orderNumberPrefix + digits,
      lines,
      discount,
      outcome,
      refundedTickets: outcome === 'partly refunded' ? random.between(1, cart[0].quantity - 1) : 0,
      createdAt: clock.write(timeline.createdAt, fraction),
      fulfilledAt: timeline.fulfilledAt === null ? null : clock.write(timeline.fulfilledAt, fraction),
      // Changes come from the back office, which writes UTC.
      changedAt: timeline.changedAt === null ? null : writeUtc(timeline.changedAt, fraction),
      buyer,
      channel,
      delivery: this.#checkout.delivery(profile, channel, buyer),
      addOns: this.#checkout.addOns(
        profile,
        sumOf(lines, ({ unitPaid }) => unitPaid),
      ),
      payment: this.#checkout.payment(profile, channel),
      optIns: profile.optIns.map((name) => ({ name, accepted: random.chance(0.35) })),
    };
    return { order: orderRecord(details), tickets: this.#issue(details, timeline, digits) };
  }

  /** Issues the tickets of an order and updates the stock. */
  #issue(details: OrderDetails, timeline: OrderTimeline, digits: string) {
    const { organization, outcome } = details;
    if (timeline.fulfilledAt === null || details.fulfilledAt === null) return [];
    const issue = {
      organizationId: organization.organizationId,
      orderId: details.orderId,
      orderNumber: details.orderNumber,
      invoiceReference: `${organization.profile.invoicePrefix}${details.createdAt.slice(0, 4)}-${digits}`,
      channel: details.channel,
      customer: details.buyer.customer,
      currency: organization.profile.currency,
      issuedAt: timeline.fulfilledAt,
      closedAt: timeline.closedAt,
      issuedAtText: details.fulfilledAt,
      cancelledAtText: details.changedAt,
    };
    return details.lines.flatMap((priced, position) => {
      const { line } = priced;
      if (line.type === 'PRODUCT') {
        if (outcome !== 'cancelled') line.offer.variants[line.variant].sold += line.quantity;
        return [];
      }
      const refunded = position === 0 ? details.refundedTickets : 0;
      const cancelled = outcome === 'cancelled' ? line.quantity : refunded;
      return Array.from({ length: line.quantity }, (_, unit) =>
        issueTicket(issue, { ...priced, line }, unit < cancelled, this.#context),
      );
    });
  }

  /** Draws a fraction of a second, as different systems write them: mostly none, some of 3 or 6 digits. */
  #fraction(): string {
    const { random } = this.#context;
    const kind = random.fraction();
    if (kind < 0.7) return '';
    const digits = kind < 0.9 ? 3 : 6;
    return `.${String(random.below(10 ** digits)).padStart(digits, '0')}`;
  }
}

/** Reports whether an order can have an outcome. Only orders for upcoming sessions are pending. */
function isPossible(outcome: Outcome, lines: readonly PricedLine[], isUpcoming: boolean): boolean {
  switch (outcome) {
    case 'pending':
      return isUpcoming;
    case 'partly refunded':
      return isPartlyRefundable(lines);
    case 'fulfilled':
    case 'cancelled':
      return true;
  }
}

/** Reports whether the first line has several paid tickets, outside a bundle and without options. */
function isPartlyRefundable([{ line, unitPaid }, ...others]: readonly PricedLine[]): boolean {
  return (
    line.type === 'TICKET' &&
    line.quantity > 1 &&
    unitPaid > 0 &&
    line.pricing.bundleOfferId === null &&
    others.every((other) => other.line.base === null)
  );
}

/** Returns the start of the earliest session in the cart; infinity without tickets. */
function firstStartOf(cart: readonly CartLine[]): Seconds {
  return Math.min(
    ...cart.map((line) => (line.type === 'TICKET' ? line.event.sessions[line.session].start : Infinity)),
  );
}
