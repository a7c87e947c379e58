import {
  inOrganization,
  minimalEvent,
  minimalOffer,
  minimalOrder,
  minimalPricing,
  minimalSession,
  minimalTicket,
  times,
} from '../support/records.ts';
import type { Import, ImportRecord } from '../support/import-folder.ts';

/**
 * Imports whose records all carry a mark, which SQL can change in a built snapshot. Each variant has different records
 * in a different order.
 */

export const MARK = 'mark-0000';
const MARKED_MINUTES = 10_000;
const MARKS = /"(?:[a-zA-Z]+":"mark-|durationMinutes":1)(\d{4})\b/g;

export function markedImport(organizationIds: readonly string[], variant: number): Required<Import> {
  const isReversed = variant % 2 === 1;
  const at = (i: number) =>
    new Date(Date.UTC(2026, 0, 1) + (isReversed ? 1000 - i : i) * 1_000_000).toISOString();
  const events = 6 + variant;
  const ofAll = (records: readonly ImportRecord[]) =>
    organizationIds.flatMap((organizationId) => records.map(inOrganization(organizationId)));
  return {
    organizations: organizationIds.map((organizationId) => ({ organizationId, name: organizationId })),
    events: ofAll(
      times(events, (i) =>
        minimalEvent(`evt_${i}`, { title: MARK, createdAt: at(i), tags: [`tag ${(i + variant) % 3}`] }),
      ),
    ),
    sessions: ofAll(
      times(events * 3, (i) =>
        minimalSession(`ses_${i}`, `evt_${i % events}`, {
          startAt: at(i * 7),
          durationMinutes: MARKED_MINUTES,
        }),
      ),
    ),
    tickets: ofAll(
      times(120 + variant * 11, (i) =>
        minimalTicket(`tkt_${i}`, {
          offerName: MARK,
          issuedAt: at(i),
          updatedAt: at(i * 2),
          eventId: `evt_${i % events}`,
          eventSessionId: `ses_${i % (events * 3)}`,
          orderId: `ord_${i % 40}`,
          qrCode: `qr-${(i + variant) % 50}`,
        }),
      ),
    ),
    orders: ofAll(
      times(40 + variant * 5, (i) =>
        minimalOrder(`ord_${i}`, {
          orderNumber: MARK,
          status: i % 3 === variant % 3 ? 'PENDING' : 'FULFILLED',
          createdAt: at(i),
          updatedAt: at(i * 3),
          customer: { customerId: `c${i}`, email: `name${(i + variant) % 7}@example.org` },
          placedItems: [{ eventId: `evt_${i % events}`, quantity: 1 }],
        }),
      ),
    ),
    offers: ofAll(
      times(8 + variant, (i) =>
        minimalOffer(`off_${i}`, 'TICKET', {
          name: MARK,
          eventId: `evt_${i % events}`,
          createdAt: at(i),
          pricing: [minimalPricing('p', { resaleEnabled: (i + variant) % 2 === 0 })],
        }),
      ),
    ),
  };
}

/** Returns SQL that gives every record of a snapshot the mark `n`. */
export function markedAs(n: number): string {
  const digits = String(n).padStart(4, '0');
  const mark = (table: string, from: string, to: string) =>
    // Both texts have the same length, so the record lengths stay.
    `UPDATE ${table} SET records = replace(records, '${from}', '${to}');`;
  return [
    ...['event_runs', 'ticket_runs', 'order_runs', 'offer_runs'].map((table) =>
      mark(table, MARK, `mark-${digits}`),
    ),
    mark('session_runs', `"durationMinutes":${MARKED_MINUTES}`, `"durationMinutes":1${digits}`),
  ].join('\n');
}

/** Returns the marks in a body, one for each record. */
export function marksIn(body: string): number[] {
  return Array.from(body.matchAll(MARKS), ([, digits]) => Number(digits));
}
