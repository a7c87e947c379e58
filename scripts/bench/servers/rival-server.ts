import { hash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import Database from 'better-sqlite3';
import fastify, { type FastifyReply, type FastifyRequest, type onResponseHookHandler } from 'fastify';
import { pino } from 'pino';
import { parseTimestamp } from '../../../src/contract/timestamp.ts';
import { SECURITY_HEADERS } from '../../../src/http/response/send.ts';
import { parseCredential } from '../../../src/keys/credential.ts';
import { UNREACHED_RATE_LIMIT } from '../load/traffic.ts';
import { buildTicketDatabase, RIVAL_DATABASE } from './ticket-databases.ts';

/**
 * The strongest simple rival: Fastify and SQLite, records joined as text and never parsed, exact totals. It checks the key, counts
 * requests against a limit, logs a line, and sends Foyer's headers and an ETag. It does not know API versions, and checks queries loosely.
 * Arguments: the snapshot, the keys file, the database, and `remember` to cache totals.
 */

const [, , snapshot, keysFile, databaseFile, mode] = process.argv;
const REMEMBER = 'remember';
const WINDOW_MS = 60_000;
const MAX_TOTALS = 100_000;
const MMAP_BYTES = 16 * 2 ** 30;
type Query = Readonly<Record<string, string | undefined>>;

if (!existsSync(databaseFile)) buildTicketDatabase(snapshot, databaseFile, RIVAL_DATABASE);
const database = new Database(databaseFile, { readonly: true });
database.pragma(`mmap_size = ${MMAP_BYTES}`);
const texts = (sql: string) => database.prepare<unknown[], string>(sql).pluck();
const statements = new Map<string, ReturnType<typeof texts>>();
const prepared = (sql: string) => {
  const statement = statements.get(sql) ?? texts(sql);
  statements.set(sql, statement);
  return statement;
};

const keysDatabase = new Database(keysFile, { readonly: true });
const keys = new Map(
  keysDatabase
    .prepare<[], { org: string; digest: Buffer }>(
      'SELECT organization_id AS org, digest FROM keys WHERE revoked_at IS NULL',
    )
    .all()
    .map(({ org, digest }) => [`${org}:${digest.toString('hex')}`, { org, count: 0, endsAt: 0 }]),
);
keysDatabase.close();

const firstOf = prepared('SELECT min(position) FROM tickets WHERE organization_id = ?');
const one = prepared('SELECT record FROM tickets WHERE organization_id = ? AND ticket_id = ?');
const range = prepared(
  'SELECT record FROM tickets WHERE organization_id = ? AND position >= ? AND position < ? ORDER BY position',
);
const totals = new Map<string, number>();
const securityHeaders = Object.fromEntries(
  Array.from({ length: SECURITY_HEADERS.length / 2 }, (_, i) => SECURITY_HEADERS.slice(2 * i, 2 * i + 2)),
) as Record<string, string>;
const headers = {
  ...securityHeaders,
  'content-type': 'application/json',
  'cache-control': 'private, no-cache',
  vary: 'Authorization, Service-API-Version',
  'service-api-version': 'stable',
  'service-api-latest-version': '2026-10-01',
  'service-snapshot-id': snapshot.slice(-30),
  'service-data-as-of': '2026-11-01T00:00:00.000Z',
  'ratelimit-policy': `"default"; q=${UNREACHED_RATE_LIMIT}; w=60`,
};

const app = fastify({ genReqId: () => randomUUID() });
// Fastify's own logger would create a child logger for each request.
const log = pino(pino.destination({ dest: 1, sync: false, minLength: 4096 }));

/** Returns route options that log each request. */
function logged(operation: string): { onResponse: onResponseHookHandler } {
  return {
    onResponse: (request, reply, done) => {
      const { statusCode: status, elapsedTime: durationMs } = reply;
      log.info({ requestId: request.id, operation, status, durationMs }, 'request');
      done();
    },
  };
}

/** Checks key, limit and entity tag, and sets the headers. Returns the organization; undefined when the response is sent. */
function admit(request: FastifyRequest, reply: FastifyReply): string | undefined {
  const credential = parseCredential(request.headers.authorization ?? '');
  const key = keys.get(`${credential?.organizationId}:${hash('sha256', credential?.secret ?? '')}`);
  if (key === undefined) return void reply.code(403).send({ detail: 'The API key is not valid.' });
  const now = Date.now();
  if (key.endsAt <= now) Object.assign(key, { count: 0, endsAt: now + WINDOW_MS });
  if (++key.count > UNREACHED_RATE_LIMIT) return void reply.code(429).send({ detail: 'Too many requests.' });
  const etag = `"${hash('sha1', request.url, 'base64url')}"`;
  reply.headers(headers).headers({ etag, 'x-request-id': request.id });
  const seconds = Math.ceil((key.endsAt - now) / 1000);
  reply.header('ratelimit', `"default"; r=${UNREACHED_RATE_LIMIT - key.count}; t=${seconds}`);
  return request.headers['if-none-match'] === etag ? void reply.code(304).send() : key.org;
}

app.get<{ Params: { id: string } }>('/v1/tickets/:id', logged('getTicket'), (request, reply) => {
  const organization = admit(request, reply);
  if (organization === undefined) return;
  const record = one.get(organization, request.params.id);
  void (record === undefined ? reply.code(404).send({ detail: 'no such ticket' }) : reply.send(record));
});

app.get<{ Querystring: Query }>('/v1/tickets', logged('listTickets'), (request, reply) => {
  const organization = admit(request, reply);
  if (organization === undefined) return;
  const { query } = request;
  const page = Number(query['page'] ?? 1);
  const perPage = Number(query['perPage'] ?? 25);
  const { where, values } = conditionsOf(organization, query);
  const total = totalOf(where, values);
  const totalPages = Math.ceil(total / perPage);
  if (page > Math.max(1, totalPages)) return void reply.code(204).send();
  const items = itemsOf(where, values, (page - 1) * perPage, perPage).join(',');
  const { protocol, host } = request;
  const search = new URLSearchParams({ ...query, page: String(page + 1), perPage: String(perPage) });
  const next =
    page < totalPages ? JSON.stringify(`${protocol}://${host}/v1/tickets?${search.toString()}`) : null;
  void reply.send(
    `{"items":[${items}],"page":${page},"perPage":${perPage},"totalPages":${totalPages},"hasMore":${next !== null},"nextPage":${next}}`,
  );
});

function conditionsOf(organization: string, query: Query): { where: string; values: unknown[] } {
  const conditions = ['organization_id = ?'];
  const values: unknown[] = [organization];
  const { eventIds, 'updatedAt.gte': from, 'updatedAt.lte': until } = query;
  const events = eventIds?.split(',') ?? [];
  if (events.length > 0) conditions.push(`event_id IN (${events.map(() => '?').join()})`);
  values.push(...events);
  for (const [operator, instant] of [['>=', from] as const, ['<=', until] as const]) {
    if (instant === undefined) continue;
    conditions.push(`updated_at ${operator} ?`);
    values.push(parseTimestamp(instant));
  }
  return { where: conditions.join(' AND '), values };
}

function totalOf(where: string, values: readonly unknown[]): number {
  const key = `${where} ${values.join()}`;
  const known = totals.get(key);
  if (known !== undefined) return known;
  const total = Number(prepared(`SELECT count(*) FROM tickets WHERE ${where}`).get(...values));
  if (mode === REMEMBER && totals.size < MAX_TOTALS) totals.set(key, total);
  return total;
}

/** Reads the records of a page: a range of positions without filters, otherwise by the index of a filter. */
function itemsOf(where: string, values: readonly unknown[], skip: number, perPage: number): string[] {
  if (values.length === 1) {
    const first = Number(firstOf.get(...values)) + skip;
    return range.all(...values, first, first + perPage);
  }
  const rows = `SELECT position FROM tickets WHERE ${where} ORDER BY position LIMIT ? OFFSET ?`;
  const records = `SELECT record FROM tickets WHERE position IN (${rows}) ORDER BY position`;
  return prepared(records).all(...values, perPage, skip);
}

await app.listen({ port: 0, host: '127.0.0.1' });
process.send?.((app.server.address() as AddressInfo).port);
