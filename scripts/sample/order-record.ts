import type { CartLine } from './cart.ts';
import type { Checkout } from './checkout.ts';
import type { Buyer } from './customers.ts';
import { amount, type Currency, percentOf, taxWithin } from './money.ts';
import type { Outcome } from './order-timeline.ts';
import type { Organization } from './organizations.ts';
import type { SalesChannel } from './profile.ts';

/** The details from which the record of an order is made. */
export interface OrderDetails {
  readonly organization: Organization;
  readonly orderId: string;
  readonly orderNumber: string;
  readonly lines: readonly PricedLine[];
  readonly discount: Discount | null;
  readonly outcome: Outcome;
  /** Number of tickets of the first line that were cancelled alone. */
  readonly refundedTickets: number;
  readonly createdAt: string;
  /** Null while pending. */
  readonly fulfilledAt: string | null;
  /** Time of the cancellation or partial refund; null otherwise. */
  readonly changedAt: string | null;
  readonly buyer: Buyer;
  readonly channel: SalesChannel;
  readonly delivery: ReturnType<Checkout['delivery']>;
  readonly addOns: ReturnType<Checkout['addOns']>;
  readonly payment: ReturnType<Checkout['payment']>;
  readonly optIns: readonly { readonly name: string; readonly accepted: boolean }[];
}

const STATUSES = {
  pending: { status: 'PENDING', paymentStatus: 'PENDING' },
  fulfilled: { status: 'FULFILLED', paymentStatus: 'PAID' },
  cancelled: { status: 'CANCELLED', paymentStatus: 'REFUNDED' },
  'partly refunded': { status: 'FULFILLED', paymentStatus: 'PARTIALLY_REFUNDED' },
} as const;

/**
 * Returns the record of an order. `totalPrice` is `subtotalPrice` plus fees and add-ons, `totalPaidPrice` is
 * `subtotalPaidPrice` plus the same.
 */
export function orderRecord(details: OrderDetails) {
  const { organization, lines, discount, outcome, channel, delivery, addOns, buyer } = details;
  const { currency, serviceFeePerTicket } = organization.profile;
  const { status, paymentStatus } = STATUSES[outcome];
  const subtotal = sumOf(lines, ({ unitPrice }) => unitPrice);
  const subtotalPaid = sumOf(lines, ({ unitPaid }) => unitPaid);
  const tax = sumOf(lines, ({ unitTax }) => unitTax);
  const serviceFees = serviceFeePerTicket * ticketsWithFee(lines);
  const feesAndAddOns = serviceFees + delivery.fee + addOns.reduce((sum, { price }) => sum + price, 0);
  const totalPaid = subtotalPaid + feesAndAddOns;
  const refunds = {
    pending: null,
    fulfilled: null,
    cancelled: amount(totalPaid, currency),
    'partly refunded': amount(details.refundedTickets * lines[0].unitPaid, currency),
  };
  return {
    organizationId: organization.organizationId,
    orderId: details.orderId,
    orderNumber: details.orderNumber,
    salesChannelId: channel.salesChannelId,
    salesChannelName: channel.salesChannelName,
    status,
    customer: buyer.customer,
    billingAddress: totalPaid > 0 ? buyer.billingAddress : null,
    currency: currency.code,
    totalPrice: amount(subtotal + feesAndAddOns, currency),
    totalPaidPrice: amount(totalPaid, currency),
    subtotalPrice: amount(subtotal, currency),
    subtotalPaidPrice: amount(subtotalPaid, currency),
    discountAmount: amount(subtotal - subtotalPaid, currency),
    discountCode: discount && subtotal > subtotalPaid ? discount.code : null,
    // A free order has no payment.
    paymentProvider: totalPaid > 0 ? details.payment.provider : null,
    paymentMethod: totalPaid > 0 ? details.payment.method : null,
    serviceFees: amount(serviceFees, currency),
    deliveryFees: amount(delivery.fee, currency),
    totalVatAmount: amount(tax, currency),
    delivery: delivery.record,
    placedItems: lines.map((line) => placedItem(line, currency)),
    optIns: details.optIns,
    createdAt: details.createdAt,
    fulfilledAt: details.fulfilledAt,
    cancelledAt: outcome === 'cancelled' ? details.changedAt : null,
    updatedAt: details.changedAt ?? details.fulfilledAt ?? details.createdAt,
    paymentStatus,
    refundedAmount: refunds[outcome],
    ticketsProtected: addOns.some(({ category }) => category === 'INSURANCE'),
    addOns: addOns.map(({ category, serviceId, serviceName, price }) => ({
      category,
      serviceId,
      serviceName,
      addOnPaidPrice: amount(price, currency),
    })),
  };
}

/** A line with its unit prices in minor units, tax included: `unitPaid` is `unitPrice - unitDiscount`. */
export interface PricedLine<L extends CartLine = CartLine> {
  readonly line: L;
  readonly unitPrice: number;
  readonly unitDiscount: number;
  readonly unitPaid: number;
  readonly unitTax: number;
  readonly discountCode: string | null;
}

export interface Discount {
  readonly code: string;
  readonly percent: number;
}

export function priceLine(line: CartLine, discount: Discount | null): PricedLine {
  const unitPrice = line.pricing.price;
  const unitDiscount = discount && isDiscountable(line) ? percentOf(unitPrice, discount.percent) : 0;
  const unitPaid = unitPrice - unitDiscount;
  return {
    line,
    unitPrice,
    unitDiscount,
    unitPaid,
    unitTax: taxWithin(unitPaid, line.offer.taxRate),
    discountCode: discount && unitDiscount > 0 ? discount.code : null,
  };
}

/** Sums an amount per unit over all units of the lines. */
export function sumOf(lines: readonly PricedLine[], unit: (line: PricedLine) => number): number {
  return lines.reduce((sum, line) => sum + unit(line) * line.line.quantity, 0);
}

/** Discount codes apply to tickets, not to bundles and options, which have their own prices. */
function isDiscountable({ type, base, pricing }: CartLine): boolean {
  return type === 'TICKET' && base === null && pricing.bundleOfferId === null;
}

/** Counts the tickets with a service fee: those that cost something and are not options. */
function ticketsWithFee(priced: readonly PricedLine[]): number {
  return priced
    .filter(({ line, unitPaid }) => line.type === 'TICKET' && line.base === null && unitPaid > 0)
    .reduce((sum, { line }) => sum + line.quantity, 0);
}

/** Returns the entry of a line in `placedItems`. */
function placedItem(
  { line, unitPrice, unitPaid, unitDiscount, unitTax, discountCode }: PricedLine,
  currency: Currency,
) {
  const ticket = line.type === 'TICKET' ? line : line.base;
  return {
    offerId: line.offer.offerId,
    offerName: line.type === 'TICKET' ? line.offer.name : line.offer.merchandise.name,
    inventoryId:
      line.type === 'TICKET'
        ? line.offer.stock[line.session].inventoryId
        : line.offer.variants[line.variant].inventoryId,
    quantity: line.quantity,
    unitPrice: amount(unitPrice, currency),
    unitPaidPrice: amount(unitPaid, currency),
    unitDiscountAmount: amount(unitDiscount, currency),
    discountCode,
    priceLabel: line.pricing.name,
    offerType: line.type,
    eventId: ticket?.event.eventId ?? null,
    sessionId: ticket?.event.sessions[ticket.session].sessionId ?? null,
    unitVatAmount: amount(unitTax, currency),
  };
}
