import { Refused } from '../run-command.ts';
import type { Traffic } from './traffic.ts';

/** Three requests for a ticket, then one for a page of them, and again, from all over the list. */
export const TICKET_TRAFFIC = 'one ticket, three times in four, or a page of 25';

const LEARNED_PAGES = 6;
const PER_LEARNED_PAGE = 50;
const TICKETS_FOR_A_PAGE = 3;
const PER_PAGE = 25;

interface TicketList {
  readonly items: readonly { readonly ticketId: string }[];
  readonly totalPages: number;
}

/** Learns from a server what can be asked of it. */
export async function ticketTraffic(port: number, credential: string): Promise<Traffic> {
  const list = async (perPage: number, page: number): Promise<TicketList> => {
    const response = await fetch(`http://127.0.0.1:${port}${listPath(perPage, page)}`, {
      headers: { Authorization: `Bearer ${credential}` },
    });
    if (response.status !== 200) throw new Refused(`a page of tickets was answered with ${response.status}`);
    return (await response.json()) as TicketList;
  };

  const { totalPages: learnedPages } = await list(PER_LEARNED_PAGE, 1);
  const ids: string[] = [];
  for (const page of spreadOver(learnedPages, LEARNED_PAGES)) {
    for (const { ticketId } of (await list(PER_LEARNED_PAGE, page)).items) ids.push(ticketId);
  }
  const { totalPages } = await list(PER_PAGE, 1);
  const pages = spreadOver(totalPages, Math.ceil(ids.length / TICKETS_FOR_A_PAGE));
  const paths = ids.flatMap((id, i) => {
    const ticket = `/v1/tickets/${encodeURIComponent(id)}`;
    const isLast = i % TICKETS_FOR_A_PAGE === TICKETS_FOR_A_PAGE - 1;
    return isLast ? [ticket, listPath(PER_PAGE, pages[Math.floor(i / TICKETS_FOR_A_PAGE)])] : [ticket];
  });
  return { port, credential, paths };
}

function listPath(perPage: number, page: number): string {
  return `/v1/tickets?perPage=${perPage}&page=${page}`;
}

/** `count` numbers from 1 to `last`, evenly apart. */
function spreadOver(last: number, count: number): number[] {
  return Array.from({ length: count }, (_, i) => 1 + Math.floor((i * last) / count));
}
