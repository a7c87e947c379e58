import type { SnapshotContent } from './snapshot-content.ts';
import type { Target } from './traffic.ts';

/** Three requests for a ticket, then one for a page of them, and again, from all over the list. */
export const TICKET_TRAFFIC = 'one ticket, three times in four, or a page of 25';

const TICKETS = 6000;
const TICKETS_FOR_A_PAGE = 3;
const PER_PAGE = 25;

export function ticketTargets(content: SnapshotContent): Target[] {
  const tickets = content.records('tickets', TICKETS);
  const pages = Math.ceil(content.count('tickets') / PER_PAGE);
  return tickets.flatMap(({ ticketId }, i) => {
    const ticket = { path: `/v1/tickets/${String(ticketId)}` };
    if (i % TICKETS_FOR_A_PAGE < TICKETS_FOR_A_PAGE - 1) return [ticket];
    const page = 1 + Math.floor((i * pages) / tickets.length);
    return [ticket, { path: `/v1/tickets?perPage=${PER_PAGE}&page=${page}` }];
  });
}
