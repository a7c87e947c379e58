import type { SnapshotContent } from '../snapshot-content.ts';

/** One request that a server may be sent. */
export interface Target {
  /** Path and query. */
  readonly path: string;
  /** Headers beside Host and Authorization. */
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Lower bound of a window, in milliseconds since the epoch. The path ends where its value belongs; each pass over the targets
   * moves the bound, so that no window is requested twice.
   */
  readonly windowFrom?: number;
}

/** Requests to a server on this machine. */
export interface Traffic {
  readonly port: number;
  readonly credential: string;
  /** Sent in rotation. */
  readonly targets: readonly Target[];
  /** Expected status of every response. */
  readonly status: number;
}

/** How far a pass moves a window: about as far as two updates of the sample are apart, so that a pass finds other rows. */
const PASS_MS = 307_000;
/** Length of the bound at the end of a path. */
export const BOUND_LENGTH = '2026-01-01T00:00:00.000Z'.length;

/** Returns path and query of a target in a pass over the targets, counted from 0. */
export function pathIn(pass: number, { path, windowFrom }: Target): string {
  return windowFrom === undefined ? path : path + new Date(windowFrom - pass * PASS_MS).toISOString();
}

/** Returns the bytes of a request. Host includes the port, because links and entity tags of a response depend on it. */
export function requestBytes(port: number, credential: string, target: Target, pass = 0): Buffer {
  const lines = Object.entries(target.headers ?? {}).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(
    `GET ${pathIn(pass, target)} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n` +
      `Authorization: Bearer ${credential}\r\n${lines.join('')}\r\n`,
  );
}

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

/** Requests a minute: the limit is on, counts and sends its headers, and refuses nobody. The most that Foyer takes. */
export const NEVER_REACHED_LIMIT = 1_000_000_000;
