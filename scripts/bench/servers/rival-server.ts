import { hash, randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import fastify, { type FastifyReply, type FastifyRequest, type onResponseHookHandler } from 'fastify';
import { pino } from 'pino';
import { SECURITY_HEADERS } from '../../../src/http/response/send.ts';
import { UNREACHED_RATE_LIMIT } from '../load/traffic.ts';
import {
  type Conditions,
  conditionsOf,
  type DatabaseSettings,
  keyCheck,
  TicketDatabase,
} from './ticket-database.ts';

/**
 * The strongest simple rival: Fastify and SQLite, records joined as text and never parsed, exact totals. It checks the key,
 * counts requests against a limit, logs a line, and sends Foyer's headers and an ETag. It does not know API versions, and
 * checks queries loosely.
 */

interface RivalSettings extends DatabaseSettings {
  readonly remembersTotals: boolean;
}

type Query = Readonly<Record<string, string | undefined>>;

const WINDOW_MS = 60_000;
const MAX_TOTALS = 100_000;
const SECURITY = Object.fromEntries(
  Array.from({ length: SECURITY_HEADERS.length / 2 }, (_, i) => SECURITY_HEADERS.slice(2 * i, 2 * i + 2)),
) as Record<string, string>;

/** Logs each request. Fastify's own logger would create a child logger for each. */
const log = pino(pino.destination({ dest: 1, sync: false, minLength: 4096 }));
function logged(operation: string): { onResponse: onResponseHookHandler } {
  return {
    onResponse: (request, reply, done) => {
      const { statusCode: status, elapsedTime: durationMs } = reply;
      log.info({ requestId: request.id, operation, status, durationMs }, 'request');
      done();
    },
  };
}

async function serve(settings: RivalSettings): Promise<void> {
  const tickets = new TicketDatabase(settings);
  const totals = new Map<string, number>();
  const organizationOf = keyCheck(settings);
  /** The requests of each organization in its minute. */
  const counts = new Map<string, { count: number; endsAt: number }>();
  const headers = {
    ...SECURITY,
    'content-type': 'application/json',
    'cache-control': 'private, no-cache',
    vary: 'Authorization, Service-API-Version',
    'service-api-version': 'stable',
    'service-api-latest-version': '2026-10-01',
    'service-snapshot-id': settings.snapshot.slice(-30),
    'service-data-as-of': '2026-11-01T00:00:00.000Z',
    'ratelimit-policy': `"default"; q=${UNREACHED_RATE_LIMIT}; w=60`,
  };

  /** Checks key, limit and entity tag, and sets the headers. Returns the organization; undefined when the response is sent. */
  const admit = (request: FastifyRequest, reply: FastifyReply): string | undefined => {
    const organizationId = organizationOf(request.headers.authorization ?? '');
    if (organizationId === undefined)
      return void reply.code(403).send({ detail: 'The API key is not valid.' });
    const key = counts.getOrInsertComputed(organizationId, () => ({ count: 0, endsAt: 0 }));
    const now = Date.now();
    if (key.endsAt <= now) Object.assign(key, { count: 0, endsAt: now + WINDOW_MS });
    if (++key.count > UNREACHED_RATE_LIMIT)
      return void reply.code(429).send({ detail: 'Too many requests.' });
    const etag = `"${hash('sha1', request.url, 'base64url')}"`;
    reply.headers(headers).headers({ etag, 'x-request-id': request.id });
    const seconds = Math.ceil((key.endsAt - now) / 1000);
    reply.header('ratelimit', `"default"; r=${UNREACHED_RATE_LIMIT - key.count}; t=${seconds}`);
    return request.headers['if-none-match'] === etag ? void reply.code(304).send() : organizationId;
  };

  const totalOf = (conditions: Conditions): number => {
    if (!settings.remembersTotals) return tickets.count(conditions);
    const key = `${conditions.where} ${conditions.values.join()}`;
    if (totals.size >= MAX_TOTALS) return totals.get(key) ?? tickets.count(conditions);
    return totals.getOrInsertComputed(key, () => tickets.count(conditions));
  };

  /** Reads the records of a page: a range of positions without filters, otherwise by the index of a filter. */
  const itemsOf = ({ where, values }: Conditions, skip: number, perPage: number): unknown[] => {
    if (values.length === 1) {
      const sql = `SELECT min(position) FROM tickets WHERE ${where}`;
      const first = Number(tickets.statement(sql).get(...values)) + skip;
      return tickets
        .statement(
          `SELECT record FROM tickets WHERE ${where} AND position >= ? AND position < ? ORDER BY position`,
        )
        .all(...values, first, first + perPage);
    }
    const rows = `SELECT position FROM tickets WHERE ${where} ORDER BY position LIMIT ? OFFSET ?`;
    const records = `SELECT record FROM tickets WHERE position IN (${rows}) ORDER BY position`;
    return tickets.statement(records).all(...values, perPage, skip);
  };

  const app = fastify({ genReqId: () => randomUUID() });
  app.get<{ Params: { id: string } }>('/v1/tickets/:id', logged('getTicket'), (request, reply) => {
    const organizationId = admit(request, reply);
    if (organizationId === undefined) return;
    const record = tickets.record(organizationId, request.params.id);
    void (record === undefined ? reply.code(404).send({ detail: 'no such ticket' }) : reply.send(record));
  });
  app.get<{ Querystring: Query }>('/v1/tickets', logged('listTickets'), (request, reply) => {
    const organizationId = admit(request, reply);
    if (organizationId === undefined) return;
    const { query, protocol, host } = request;
    const [page, perPage] = [Number(query['page'] ?? 1), Number(query['perPage'] ?? 25)];
    const conditions = conditionsOf(organizationId, query);
    const totalPages = Math.ceil(totalOf(conditions) / perPage);
    if (page > Math.max(1, totalPages)) return void reply.code(204).send();
    const items = itemsOf(conditions, (page - 1) * perPage, perPage).join(',');
    const search = new URLSearchParams({ ...query, page: String(page + 1), perPage: String(perPage) });
    const next =
      page < totalPages ? JSON.stringify(`${protocol}://${host}/v1/tickets?${search.toString()}`) : null;
    void reply.send(
      `{"items":[${items}],"page":${page},"perPage":${perPage},"totalPages":${totalPages},"hasMore":${next !== null},"nextPage":${next}}`,
    );
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
  process.send?.((app.server.address() as AddressInfo).port);
}

process.once('message', (settings: RivalSettings) => void serve(settings));
process.send?.('ready');
