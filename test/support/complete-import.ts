import { ORGANIZATIONS } from './random-history.ts';
import {
  FULL_BUNDLE_OFFER,
  FULL_EVENT,
  FULL_EVENT_IMPORTED,
  FULL_ORDER,
  FULL_PRODUCT_OFFER,
  FULL_SESSION,
  FULL_TICKET,
  FULL_TICKET_OFFER,
  inOrganization,
  minimalEvent,
  minimalOrder,
  minimalSession,
  minimalTicket,
} from './records.ts';

const [organizationId] = ORGANIZATIONS;
const own = inOrganization(organizationId);
const organizations = ORGANIZATIONS.map((id) => ({ organizationId: id }));

/** Records with every field, and values that are difficult to copy. */
export const COMPLETE_IMPORT = {
  organizations,
  events: [
    own(FULL_EVENT_IMPORTED),
    own(minimalEvent('evt_2', { title: '2026-01-01T00:00:00Z', description: 'a half: \ud83c' })),
  ],
  sessions: [own({ ...FULL_SESSION, eventId: FULL_EVENT.id }), own(minimalSession('ses_2', 'evt_2'))],
  tickets: [own(FULL_TICKET), own(minimalTicket('tkt_2', { listPrice: 1.5, qrCode: '\0\u2028' }))],
  orders: [own(FULL_ORDER), own(minimalOrder('ord_2', { totalPrice: 12 }))],
  offers: [own(FULL_TICKET_OFFER), own(FULL_PRODUCT_OFFER), own(FULL_BUNDLE_OFFER)],
};

/** Deletes two of these records, in a build with their snapshot as base. */
export const COMPLETE_DELETIONS = {
  organizations,
  deletions: [
    { organizationId, collection: 'tickets', id: FULL_TICKET.ticketId },
    { organizationId, collection: 'offers', id: FULL_PRODUCT_OFFER.offerId },
  ],
};

export const EMPTY_IMPORT = { organizations, events: [], sessions: [], tickets: [], orders: [], offers: [] };
