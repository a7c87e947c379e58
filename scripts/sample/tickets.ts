import type { TicketLine } from './basket.ts';
import { MINUTE, type Seconds } from './clock.ts';
import { momentAfter } from './course.ts';
import type { Buyer } from './customers.ts';
import { amount, type Currency } from './money.ts';
import type { PricedLine } from './order-lines.ts';
import type { Form, SalesChannel } from './profile.ts';
import type { Random } from './random.ts';
import type { Stage } from './season.ts';
import { seatAt } from './seats.ts';

/** Of those who hold a ticket: who comes, and who fills in the form. */
const ADMITTED = 0.87;
const ANSWERED = 0.8;
const DOORS = 45 * MINUTE;

/** What all tickets of an order share. */
export interface Issue {
  readonly organizationId: string;
  readonly orderId: string;
  readonly orderNumber: string;
  readonly invoiceReference: string;
  readonly channel: SalesChannel;
  readonly customer: Buyer['customer'];
  readonly currency: Currency;
  readonly issuedAt: Seconds;
  readonly closedAt: Seconds;
  /** The same two as records write them. */
  readonly issuedAtText: string;
  readonly cancelledAtText: string | null;
}

/** Issues one ticket of a line: takes it from the stock of the session and from the event's tickets to issue. */
export function issueTicket(
  issue: Issue,
  { line, unitPrice, unitPaid, unitTax }: PricedLine<TicketLine>,
  cancelled: boolean,
  { random, ids, reference }: Stage,
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
      ? answers(offer.form, event.clock.write(momentAfter(issue.issuedAt, issue.closedAt, random)), random)
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
    transferable: line.under === null && unitPaid > 0,
    customer: issue.customer,
    attendeeForm,
  };
}

function answers({ formId, fields }: Form, submittedAt: string, random: Random) {
  return {
    formId,
    submittedAt,
    responses: fields.map(({ fieldId, answers: choices, several }) => {
      const first = random.below(choices.length);
      const count = several ? random.between(1, choices.length - 1) : 1;
      return {
        fieldId,
        value: Array.from({ length: count }, (_, next) => choices[(first + next) % choices.length]),
      };
    }),
  };
}
