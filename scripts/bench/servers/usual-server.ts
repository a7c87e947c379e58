import { hash, timingSafeEqual } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import Database from 'better-sqlite3';
import express, { type Request, type RequestHandler, type Response } from 'express';
import { rateLimit } from 'express-rate-limit';
import helmet from 'helmet';
import { pinoHttp } from 'pino-http';
import { parseCredential } from '../../../src/keys/credential.ts';
import { UNREACHED_RATE_LIMIT } from '../load/traffic.ts';
import { buildTicketDatabase, USUAL_DATABASE } from './ticket-databases.ts';
import { FILTERS, type TicketQuery, UsualTickets } from './usual-tickets.ts';

/**
 * A read API as it is usually written: Express with the usual middleware and an SQL query for each request. Arguments: the snapshot that
 * the database is built from, the keys file, and the database.
 */

interface UsualKey {
  readonly keyId: string;
  readonly organizationId: string;
  /** SHA-256 of the secret. */
  readonly digest: Buffer;
}

const DEFAULT_PER_PAGE = 25;
const MAX_PER_PAGE = 100;

const [, , snapshot, keysFile, databaseFile] = process.argv;
if (!existsSync(databaseFile)) buildTicketDatabase(snapshot, databaseFile, USUAL_DATABASE);
const keysByOrganization = Map.groupBy(readKeys(keysFile), ({ organizationId }) => organizationId);
const tickets = new UsualTickets(databaseFile);

const app = express();
app.use(helmet());
// The log must not contain credentials.
app.use(pinoHttp({ redact: ['req.headers.authorization'] }));
app.use(authenticate());
app.use(
  rateLimit({
    windowMs: 60_000,
    limit: UNREACHED_RATE_LIMIT,
    standardHeaders: 'draft-8',
    legacyHeaders: false,
    keyGenerator: (_request, response) => keyOf(response).keyId,
  }),
);
app.get('/v1/tickets', (request, response) => {
  const query = readQuery(request);
  if (query === undefined) {
    response.status(400).json({ detail: 'page or perPage is out of range' });
    return;
  }
  const { page, perPage } = query;
  const { items, total } = tickets.page(keyOf(response).organizationId, query);
  const totalPages = Math.ceil(total / perPage);
  const hasMore = page < totalPages;
  const nextPage = hasMore ? nextPageOf(request, page + 1) : null;
  response.set('Cache-Control', 'private, no-cache');
  response.json({ items, page, perPage, totalPages, hasMore, nextPage });
});
app.get('/v1/tickets/:ticketId', (request, response) => {
  const ticket = tickets.one(keyOf(response).organizationId, request.params.ticketId);
  if (ticket === undefined) response.status(404).json({ detail: 'no such ticket' });
  else response.set('Cache-Control', 'private, no-cache').json(ticket);
});

const server = app.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));

function readKeys(file: string): UsualKey[] {
  const database = new Database(file, { readonly: true, fileMustExist: true });
  try {
    return database
      .prepare<[], UsualKey>(
        `SELECT key_id AS keyId, organization_id AS organizationId, digest FROM keys WHERE revoked_at IS NULL`,
      )
      .all();
  } finally {
    database.close();
  }
}

function authenticate(): RequestHandler {
  return (request, response, next) => {
    const key = findKey(request.get('authorization') ?? '');
    if (key === undefined) response.status(403).json({ detail: 'unknown key' });
    else {
      response.locals['key'] = key;
      next();
    }
  };
}

function findKey(authorization: string): UsualKey | undefined {
  const credential = parseCredential(authorization);
  if (credential === undefined) return undefined;
  const digest = hash('sha256', credential.secret, 'buffer');
  return keysByOrganization
    .get(credential.organizationId)
    ?.find((key) => timingSafeEqual(key.digest, digest));
}

function keyOf(response: Response): UsualKey {
  return response.locals['key'] as UsualKey;
}

/** Reads the query; undefined when a number is out of range. */
function readQuery({ query }: Request): TicketQuery | undefined {
  const page = Number(query['page'] ?? 1);
  const perPage = Number(query['perPage'] ?? DEFAULT_PER_PAGE);
  const isValid =
    Number.isInteger(page) &&
    page >= 1 &&
    Number.isInteger(perPage) &&
    perPage >= 1 &&
    perPage <= MAX_PER_PAGE;
  if (!isValid) return undefined;
  const filters = FILTERS.flatMap((name) => {
    const text = query[name];
    return typeof text === 'string' ? [[name, text] as const] : [];
  });
  return { page, perPage, filters: new Map(filters) };
}

function nextPageOf(request: Request, page: number): string {
  const url = new URL(request.originalUrl, `${request.protocol}://${request.get('host') ?? ''}`);
  url.searchParams.set('page', String(page));
  return url.href;
}
