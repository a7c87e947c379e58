import type { Sale } from './box-office.ts';
import { type PricedLine, sumOf } from './cart.ts';
import { amount } from './money.ts';

const STATUSES = {
  pending: { status: 'PENDING', paymentStatus: 'PENDING' },
  fulfilled: { status: 'FULFILLED', paymentStatus: 'PAID' },
  cancelled: { status: 'CANCELLED', paymentStatus: 'REFUNDED' },
  'partly refunded': { status: 'FULFILLED', paymentStatus: 'PARTIALLY_REFUNDED' },
} as const;

/** Fee of a ticket, in price steps. */
const SERVICE_FEE = 3;

export type OrderRecord = ReturnType<typeof orderRecord>;

/**
 * Returns the record of an order. `totalPrice` is `subtotalPrice` plus fees and add-ons, `totalPaidPrice` is
 * `subtotalPaidPrice` plus the same.
 */
export function orderRecord(sale: Sale) {
  const { profile, lines, outcome, channel, delivery, addOns, buyer } = sale;
  const { currency } = profile;
  const inUnits = (minor: number) => amount(minor, currency);
  const { status, paymentStatus } = STATUSES[outcome];
  const discountCode = sale.discount?.code ?? null;
  const subtotal = sumOf(lines, 'unitPrice');
  const subtotalPaid = sumOf(lines, 'unitPaid');
  const serviceFees = SERVICE_FEE * profile.priceStep * ticketsWithFee(lines);
  const feesAndAddOns = serviceFees + delivery.fee + addOns.reduce((sum, { price }) => sum + price, 0);
  const totalPaid = subtotalPaid + feesAndAddOns;
  const refunds = {
    pending: null,
    fulfilled: null,
    cancelled: inUnits(totalPaid),
    'partly refunded': inUnits(sale.refundedTickets * lines[0].unitPaid),
  };
  return {
    organizationId: profile.organizationId,
    orderId: sale.orderId,
    orderNumber: sale.orderNumber,
    salesChannelId: channel.salesChannelId,
    salesChannelName: channel.salesChannelName,
    status,
    customer: buyer.customer,
    billingAddress: totalPaid > 0 ? buyer.billingAddress : null,
    currency: currency.code,
    totalPrice: inUnits(subtotal + feesAndAddOns),
    totalPaidPrice: inUnits(totalPaid),
    subtotalPrice: inUnits(subtotal),
    subtotalPaidPrice: inUnits(subtotalPaid),
    discountAmount: inUnits(subtotal - subtotalPaid),
    discountCode: subtotal > subtotalPaid ? discountCode : null,
    // A free order has no payment.
    paymentProvider: totalPaid > 0 ? sale.payment.provider : null,
    paymentMethod: totalPaid > 0 ? sale.payment.method : null,
    serviceFees: inUnits(serviceFees),
    deliveryFees: inUnits(delivery.fee),
    totalVatAmount: inUnits(sumOf(lines, 'unitTax')),
    delivery: delivery.record,
    placedItems: lines.map((line) => ({
      offerId: line.offer.offerId,
      offerName: line.offer.name,
      inventoryId: line.offer.stock[line.position].inventoryId,
      quantity: line.quantity,
      unitPrice: inUnits(line.unitPrice),
      unitPaidPrice: inUnits(line.unitPaid),
      unitDiscountAmount: inUnits(line.unitDiscount),
      discountCode: line.unitDiscount > 0 ? discountCode : null,
      priceLabel: line.pricing.name,
      offerType: line.offer.type,
      ...sessionOf(line),
      unitVatAmount: inUnits(line.unitTax),
    })),
    optIns: sale.optIns,
    createdAt: sale.createdAt,
    fulfilledAt: sale.fulfilledAt,
    cancelledAt: outcome === 'cancelled' ? sale.changedAt : null,
    updatedAt: sale.changedAt ?? sale.fulfilledAt ?? sale.createdAt,
    paymentStatus,
    refundedAmount: refunds[outcome],
    ticketsProtected: addOns.some(({ category }) => category === 'INSURANCE'),
    addOns: addOns.map(({ price, ...addOn }) => ({ ...addOn, addOnPaidPrice: inUnits(price) })),
  };
}

/** Counts the tickets with a service fee: those that cost something and are not options. */
function ticketsWithFee(lines: readonly PricedLine[]): number {
  return lines
    .filter(({ offer, base, unitPaid }) => offer.type === 'TICKET' && base === null && unitPaid > 0)
    .reduce((sum, { quantity }) => sum + quantity, 0);
}

/** Returns the session of a ticket, or of the ticket with which a product is sold. */
function sessionOf(line: PricedLine): { eventId: string | null; sessionId: string | null } {
  const { offer, position } = line.base ?? line;
  if (offer.type === 'PRODUCT') return { eventId: null, sessionId: null };
  const { eventId, sessions } = offer.event;
  return { eventId, sessionId: sessions[position].sessionId };
}
