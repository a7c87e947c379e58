import { type Sale, timeAfter } from './box-office.ts';
import type { PricedLine } from './cart.ts';
import { MINUTE, type Seconds } from './clock.ts';
import { amount } from './money.ts';
import type { OrderRecord } from './order-record.ts';
import type { Seating, TicketOffer } from './offers.ts';
import type { Form } from './profile.ts';
import type { Random } from './random.ts';
import type { SampleContext } from './season.ts';

/** Shares of tickets that are admitted, and whose form is filled in. */
const ADMITTED = 0.87;
const ANSWERED = 0.8;
/** Admission begins this long before a session. */
const DOORS = 45 * MINUTE;

/**
 * Issues the tickets of an order and updates the stock. The tickets are as many as the quantities of the TICKET items;
 * none while the order is pending.
 */
export function issueTickets(sale: Sale, order: OrderRecord, context: SampleContext) {
  const { fulfilledAt } = sale.times;
  if (fulfilledAt === null) return [];
  return sale.lines.flatMap((line, position) => {
    const { offer, quantity } = line;
    const isCancelled = sale.outcome === 'cancelled';
    if (offer.type === 'PRODUCT') {
      if (!isCancelled) offer.stock[line.position].sold += quantity;
      return [];
    }
    const refunded = position === 0 ? sale.refundedTickets : 0;
    const cancelled = isCancelled ? quantity : refunded;
    return Array.from({ length: quantity }, (_, unit) =>
      issueTicket({ sale, order, line, offer, fulfilledAt, isCancelled: unit < cancelled }, context),
    );
  });
}

interface Issue {
  readonly sale: Sale;
  readonly order: OrderRecord;
  readonly line: PricedLine;
  /** The offer of the line. */
  readonly offer: TicketOffer;
  readonly fulfilledAt: Seconds;
  readonly isCancelled: boolean;
}

function issueTicket(
  { sale, order, line, offer, fulfilledAt, isCancelled }: Issue,
  { random, ids, reference }: SampleContext,
) {
  const { event } = offer;
  const { currency } = sale.profile;
  const session = event.sessions[line.position];
  const stock = offer.stock[line.position];
  const number = stock.sold++;
  event.remaining--;
  if (isCancelled) stock.cancelled++;

  const admittedAt =
    !isCancelled && session.start <= reference && random.chance(ADMITTED)
      ? event.clock.write(session.start - random.below(DOORS))
      : null;
  const attendeeForm =
    offer.form && !isCancelled && random.chance(ANSWERED)
      ? answers(offer.form, event.clock.write(timeAfter(fulfilledAt, sale.times.closedAt, random)), random)
      : null;
  const cancelledAt = isCancelled ? sale.changedAt : null;
  return {
    organizationId: order.organizationId,
    ticketId: ids.next('tkt_'),
    eventId: event.eventId,
    invoiceReference: sale.invoiceReference,
    status: isCancelled ? 'CANCELLED' : admittedAt === null ? 'FULFILLED' : 'USED',
    offerId: offer.offerId,
    offerName: offer.name,
    issuedAt: order.fulfilledAt,
    updatedAt: cancelledAt ?? admittedAt ?? attendeeForm?.submittedAt ?? order.fulfilledAt,
    cancelledAt,
    eventSessionId: session.sessionId,
    eventSessionStartAt: session.startAt,
    seatingInfo: seatAt(offer.seating, number),
    qrCode: ids.code().toUpperCase() + ids.code().toUpperCase(),
    issuanceChannel: sale.channel.issuanceChannel,
    salesChannelName: order.salesChannelName,
    salesChannelId: order.salesChannelId,
    orderId: order.orderId,
    orderNumber: order.orderNumber,
    priceLabel: line.pricing.name,
    listPrice: amount(line.unitPrice, currency),
    finalPaidPrice: amount(line.unitPaid, currency),
    vat: amount(line.unitTax, currency),
    currency: order.currency,
    transferable: line.base === null && line.unitPaid > 0,
    customer: order.customer,
    attendeeForm,
  };
}

function answers({ formId, fields, multiple }: Form, submittedAt: string, random: Random) {
  return {
    formId,
    submittedAt,
    responses: Object.entries(fields).map(([fieldId, choices]) => {
      const first = random.below(choices.length);
      const count = multiple.includes(fieldId) ? random.between(1, choices.length - 1) : 1;
      return {
        fieldId,
        value: Array.from({ length: count }, (_, next) => choices[(first + next) % choices.length]),
      };
    }),
  };
}

/** Returns the seat of ticket `number` (from 0) of an offer and session. Seats are filled row by row. */
function seatAt(seating: Seating | null, number: number) {
  if (seating === null) return null;
  const { blocs, numbered } = seating;
  if (numbered === null) return { blocName: blocs[0], seatRow: null, seatNumber: null };
  const { rows, seatsPerRow } = numbered;
  const row = Math.floor(number / seatsPerRow);
  const bloc = Math.floor(row / rows);
  // Full blocs are followed by numbered copies: "Balcon", then "Balcon 2".
  const round = Math.floor(bloc / blocs.length) + 1;
  const name = blocs[bloc % blocs.length];
  return {
    blocName: round === 1 ? name : `${name} ${round}`,
    seatRow: rowLetters(row % rows),
    seatNumber: String((number % seatsPerRow) + 1),
  };
}

/** Returns A to Z, then AA to AZ and so on. */
function rowLetters(row: number): string {
  const last = String.fromCharCode(65 + (row % 26));
  return row < 26 ? last : rowLetters(Math.floor(row / 26) - 1) + last;
}
