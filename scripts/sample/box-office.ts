import { Basketry, type Line } from './basket.ts';
import { Checkout } from './checkout.ts';
import { type Seconds, writeUtc } from './clock.ts';
import { type Course, drawCourse, type Outcome } from './course.ts';
import type { Customers } from './customers.ts';
import { Deck } from './deck.ts';
import { type PricedLine, priceLine, sumOf } from './order-lines.ts';
import { type Deal, orderRecord } from './order-record.ts';
import type { Season, Stage } from './season.ts';
import { issueTicket } from './tickets.ts';

/** What one organization's orders have in common: who buys, and the running number. */
export interface Books {
  readonly customers: Customers;
  lastOrder: number;
}

/** Takes orders and issues their tickets, for any organization. */
export class BoxOffice {
  readonly #stage: Stage;
  readonly #baskets: Basketry;
  readonly #checkout: Checkout;
  readonly #outcomes: Deck<Outcome>;
  readonly #discounted: Deck<boolean>;

  constructor(stage: Stage) {
    const { random } = stage;
    this.#stage = stage;
    this.#baskets = new Basketry(random);
    this.#checkout = new Checkout(random);
    this.#outcomes = new Deck<Outcome>(random, [
      ['fulfilled', 14],
      ['pending', 2],
      ['cancelled', 2],
      ['partly refunded', 2],
    ]);
    this.#discounted = new Deck(random, [
      [true, 1],
      [false, 6],
    ]);
  }

  /**
   * The record of one more order of a season that has tickets left, and those of its tickets: as many as the
   * order's TICKET items count, none while it is pending.
   */
  sell(season: Season, books: Books) {
    const { random, ids, reference, clockOf } = this.#stage;
    const { profile } = season.organization;
    const items = this.#baskets.fill(season);
    const discount = this.#discounted.draw() ? random.pick(profile.discounts) : null;
    const lines = items.map((line) => priceLine(line, discount));
    const firstStart = firstStartOf(items);
    const outcome = possible(this.#outcomes.draw(), lines, firstStart > reference);
    const course = drawCourse(outcome, { openedAt: season.openedAt, reference, firstStart }, random);

    const clock = items[0].type === 'TICKET' ? items[0].event.clock : clockOf(profile.zone);
    const fraction = this.#fraction();
    const buyer = books.customers.draw(random);
    const channel = this.#checkout.channel(profile);
    const number = String(++books.lastOrder).padStart(6, '0');
    const deal: Deal = {
      organization: season.organization,
      orderId: ids.next('ord_'),
      orderNumber: profile.orderNumberPrefix + number,
      lines,
      discount,
      outcome,
      refundedTickets: outcome === 'partly refunded' ? random.between(1, items[0].quantity - 1) : 0,
      createdAt: clock.write(course.createdAt, fraction),
      fulfilledAt: course.fulfilledAt === null ? null : clock.write(course.fulfilledAt, fraction),
      // Changes come from the back office, which writes UTC.
      changedAt: course.changedAt === null ? null : writeUtc(course.changedAt, fraction),
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
    return { order: orderRecord(deal), tickets: this.#issue(deal, course, number) };
  }

  /** The tickets of an order, and what it takes out of the stock. */
  #issue(deal: Deal, course: Course, number: string) {
    const { organization, outcome } = deal;
    if (course.fulfilledAt === null || deal.fulfilledAt === null) return [];
    const issue = {
      organizationId: organization.organizationId,
      orderId: deal.orderId,
      orderNumber: deal.orderNumber,
      invoiceReference: `${organization.profile.invoicePrefix}${deal.createdAt.slice(0, 4)}-${number}`,
      channel: deal.channel,
      customer: deal.buyer.customer,
      currency: organization.profile.currency,
      issuedAt: course.fulfilledAt,
      closedAt: course.closedAt,
      issuedAtText: deal.fulfilledAt,
      cancelledAtText: deal.changedAt,
    };
    return deal.lines.flatMap((priced, position) => {
      const { line } = priced;
      if (line.type === 'PRODUCT') {
        if (outcome !== 'cancelled') line.offer.variants[line.variant].sold += line.quantity;
        return [];
      }
      const refunded = position === 0 ? deal.refundedTickets : 0;
      const cancelled = outcome === 'cancelled' ? line.quantity : refunded;
      return Array.from({ length: line.quantity }, (_, unit) =>
        issueTicket(issue, { ...priced, line }, unit < cancelled, this.#stage),
      );
    });
  }

  /** Sources differ in how finely they write time: mostly seconds, some milliseconds, some microseconds. */
  #fraction(): string {
    const { random } = this.#stage;
    const kind = random.fraction();
    if (kind < 0.7) return '';
    const digits = kind < 0.9 ? 3 : 6;
    return `.${String(random.below(10 ** digits)).padStart(digits, '0')}`;
  }
}

/** What was drawn, where the order allows it: who waits to pay waits for something that is still to come. */
function possible(drawn: Outcome, lines: readonly PricedLine[], toCome: boolean): Outcome {
  const allowed =
    drawn === 'pending' ? toCome : drawn === 'partly refunded' ? canBeRefundedInPart(lines) : true;
  return allowed ? drawn : 'fulfilled';
}

/** Two tickets or more that cost something, not of a bundle, with no options that hang on them. */
function canBeRefundedInPart([{ line, unitPaid }, ...others]: readonly PricedLine[]): boolean {
  return (
    line.type === 'TICKET' &&
    line.quantity > 1 &&
    unitPaid > 0 &&
    line.pricing.bundleOfferId === null &&
    others.every((other) => other.line.under === null)
  );
}

/** The earliest session for which there is a ticket; infinity when there is none. */
function firstStartOf(lines: readonly Line[]): Seconds {
  return Math.min(
    ...lines.map((line) => (line.type === 'TICKET' ? line.event.sessions[line.session].start : Infinity)),
  );
}
