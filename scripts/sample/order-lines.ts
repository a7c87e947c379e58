import type { Line } from './basket.ts';
import { amount, type Currency, percentOf, taxWithin } from './money.ts';

/** A line with what one of it costs, in minor units: `unitPaid` is `unitPrice - unitDiscount`, tax included. */
export interface PricedLine<L extends Line = Line> {
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

export function priceLine(line: Line, discount: Discount | null): PricedLine {
  const unitPrice = line.pricing.price;
  const unitDiscount = discount && discountable(line) ? percentOf(unitPrice, discount.percent) : 0;
  const unitPaid = unitPrice - unitDiscount;
  return {
    line,
    unitPrice,
    unitDiscount,
    unitPaid,
    unitTax: taxWithin(unitPaid, taxRateOf(line)),
    discountCode: discount && unitDiscount > 0 ? discount.code : null,
  };
}

/** The sum over `lines` of what `unit` picks, times the quantity. */
export function sumOf(lines: readonly PricedLine[], unit: (line: PricedLine) => number): number {
  return lines.reduce((sum, line) => sum + unit(line) * line.line.quantity, 0);
}

/** Codes lower the price of tickets; bundles and options have theirs already. */
function discountable({ type, under, pricing }: Line): boolean {
  return type === 'TICKET' && under === null && pricing.bundleOfferId === null;
}

function taxRateOf(line: Line): number {
  return line.type === 'TICKET' ? line.offer.taxRate : line.offer.merchandise.taxRate;
}

/** Service fees are for tickets, neither for options nor for what is free. */
export function ticketsPaidFor(priced: readonly PricedLine[]): number {
  return priced
    .filter(({ line, unitPaid }) => line.type === 'TICKET' && line.under === null && unitPaid > 0)
    .reduce((sum, { line }) => sum + line.quantity, 0);
}

/** The line as an order reports it. */
export function placedItem(
  { line, unitPrice, unitPaid, unitDiscount, unitTax, discountCode }: PricedLine,
  currency: Currency,
) {
  const ticket = line.type === 'TICKET' ? line : line.under;
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
