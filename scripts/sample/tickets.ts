import type { TicketLine } from './cart.ts';
import { MINUTE, type Seconds } from './clock.ts';
import type { Buyer } from './customers.ts';
import { amount, type Currency } from './money.ts';
import type { PricedLine } from './order-record.ts';
import { timeAfter } from './order-timeline.ts';
import type { Form, Seating, SalesChannel } from './profile.ts';
import type { Random } from './random.ts';
import type { SampleContext } from './season.ts';

/** Shares of tickets that are admitted, and whose form is filled in. */
const ADMITTED = 0.87;
const ANSWERED = 0.8;
/** Admission begins this long before a session. */
const DOORS = 45 * MINUTE;

/** Properties common to all tickets of an order. */
export interface TicketIssue {
  readonly organizationId: string;
  readonly orderId: string;
  readonly orderNumber: string;
  readonly invoiceReference: string;
  readonly channel: SalesChannel;
  readonly customer: Buyer['customer'];
  readonly currency: Currency;
  readonly issuedAt: Seconds;
  readonly closedAt: Seconds;
  /** The times as records show them. */
  readonly issuedAtText: string;
  readonly cancelledAtText: string | null;
}

/** Issues a ticket of a line. Updates the stock of the session and the event's remaining tickets. */
export function issueTicket(
  issue: TicketIssue,
  { line, unitPrice, unitPaid, unitTax }: PricedLine<TicketLine>,
  cancelled: boolean,
  { random, ids, reference }: SampleContext,
) {
  const { offer, pricing, event } = line;
  const session = event.sessions[line.session];
  const stock = offer.stock[line.session];
  const number = stock.issued++;
  event.remaining--;
  if (cancelled) stock.cancelled++;

  const admittedAt =
    !cancelled && session.start <= reference && random.chance(ADMITTED)
      ? event.clock.write(session.start - random.below(DOORS))
      : null;
  const attendeeForm =
    offer.form && !cancelled && random.chance(ANSWERED)
      ? answers(offer.form, event.clock.write(timeAfter(issue.issuedAt, issue.closedAt, random)), random)
      : null;
  const cancelledAt = cancelled ? issue.cancelledAtText : null;
  return {
    organizationId: issue.organizationId,
    ticketId: ids.next('tkt_'),
    eventId: event.eventId,
    invoiceReference: issue.invoiceReference,
    status: cancelled ? 'CANCELLED' : admittedAt === null ? 'FULFILLED' : 'USED',
    offerId: offer.offerId,
    offerName: offer.name,
    issuedAt: issue.issuedAtText,
    updatedAt: cancelledAt ?? admittedAt ?? attendeeForm?.submittedAt ?? issue.issuedAtText,
    cancelledAt,
    eventSessionId: session.sessionId,
    eventSessionStartAt: session.startAt,
    seatingInfo: seatAt(offer.seating, number),
    qrCode: ids.code().toUpperCase() + ids.code().toUpperCase(),
    issuanceChannel: issue.channel.issuanceChannel,
    salesChannelName: issue.channel.salesChannelName,
    salesChannelId: issue.channel.salesChannelId,
    orderId: issue.orderId,
    orderNumber: issue.orderNumber,
    priceLabel: pricing.name,
    listPrice: amount(unitPrice, issue.currency),
    finalPaidPrice: amount(unitPaid, issue.currency),
    vat: amount(unitTax, issue.currency),
    currency: issue.currency.code,
    transferable: line.base === null && unitPaid > 0,
    customer: issue.customer,
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
export function seatAt(seating: Seating | undefined, number: number) {
  if (seating === undefined) return null;
  if ('area' in seating) return { blocName: seating.area, seatRow: null, seatNumber: null };
  const { blocs, rows, seatsPerRow, rowNames } = seating;
  const row = Math.floor(number / seatsPerRow);
  const bloc = Math.floor(row / rows);
  // Full blocs are followed by numbered copies: "Balcon", then "Balcon 2".
  const round = Math.floor(bloc / blocs.length) + 1;
  const name = blocs[bloc % blocs.length];
  const inBloc = row % rows;
  return {
    blocName: round === 1 ? name : `${name} ${round}`,
    seatRow: rowNames === 'letters' ? rowLetters(inBloc) : String(inBloc + 1),
    seatNumber: String((number % seatsPerRow) + 1),
  };
}

/** Returns A to Z, then AA to AZ and so on. */
function rowLetters(row: number): string {
  const last = String.fromCharCode(65 + (row % 26));
  return row < 26 ? last : rowLetters(Math.floor(row / 26) - 1) + last;
}
