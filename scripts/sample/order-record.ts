import type { Checkout } from './checkout.ts';
import type { Outcome } from './course.ts';
import type { Buyer } from './customers.ts';
import { amount } from './money.ts';
import { type Discount, placedItem, type PricedLine, sumOf, ticketsPaidFor } from './order-lines.ts';
import type { Organization } from './organizations.ts';
import type { SalesChannel } from './profile.ts';

/** All that was decided about an order; its record follows from it. */
export interface Deal {
  readonly organization: Organization;
  readonly orderId: string;
  readonly orderNumber: string;
  readonly lines: readonly PricedLine[];
  readonly discount: Discount | null;
  readonly outcome: Outcome;
  /** Of the first line's tickets, how many were cancelled although the order was not. */
  readonly refundedTickets: number;
  readonly createdAt: string;
  /** Null while pending. */
  readonly fulfilledAt: string | null;
  /** When it was cancelled or refunded in part; null otherwise. */
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
 * The order as it is reported. Its totals add up: `totalPrice` is `subtotalPrice` with the fees and the add-ons,
 * `totalPaidPrice` the same with what the items cost after the discount.
 */
export function orderRecord(deal: Deal) {
  const { organization, lines, discount, outcome, channel, delivery, addOns, buyer } = deal;
  const { currency, serviceFeePerTicket } = organization.profile;
  const { status, paymentStatus } = STATUSES[outcome];
  const subtotal = sumOf(lines, ({ unitPrice }) => unitPrice);
  const subtotalPaid = sumOf(lines, ({ unitPaid }) => unitPaid);
  const tax = sumOf(lines, ({ unitTax }) => unitTax);
  const serviceFees = serviceFeePerTicket * ticketsPaidFor(lines);
  const beside = serviceFees + delivery.fee + addOns.reduce((sum, { price }) => sum + price, 0);
  const totalPaid = subtotalPaid + beside;
  const refunds = {
    pending: null,
    fulfilled: null,
    cancelled: amount(totalPaid, currency),
    'partly refunded': amount(deal.refundedTickets * lines[0].unitPaid, currency),
  };
  return {
    organizationId: organization.organizationId,
    orderId: deal.orderId,
    orderNumber: deal.orderNumber,
    salesChannelId: channel.salesChannelId,
    salesChannelName: channel.salesChannelName,
    status,
    customer: buyer.customer,
    billingAddress: totalPaid > 0 ? buyer.billingAddress : null,
    currency: currency.code,
    totalPrice: amount(subtotal + beside, currency),
    totalPaidPrice: amount(totalPaid, currency),
    subtotalPrice: amount(subtotal, currency),
    subtotalPaidPrice: amount(subtotalPaid, currency),
    discountAmount: amount(subtotal - subtotalPaid, currency),
    discountCode: discount && subtotal > subtotalPaid ? discount.code : null,
    // Who paid nothing has no means of payment.
    paymentProvider: totalPaid > 0 ? deal.payment.provider : null,
    paymentMethod: totalPaid > 0 ? deal.payment.method : null,
    serviceFees: amount(serviceFees, currency),
    deliveryFees: amount(delivery.fee, currency),
    totalVatAmount: amount(tax, currency),
    delivery: delivery.record,
    placedItems: lines.map((line) => placedItem(line, currency)),
    optIns: deal.optIns,
    createdAt: deal.createdAt,
    fulfilledAt: deal.fulfilledAt,
    cancelledAt: outcome === 'cancelled' ? deal.changedAt : null,
    updatedAt: deal.changedAt ?? deal.fulfilledAt ?? deal.createdAt,
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
