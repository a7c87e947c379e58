import { hash, timingSafeEqual } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import Database from 'better-sqlite3';
import express, { type Request, type RequestHandler, type Response } from 'express';
import { rateLimit } from 'express-rate-limit';
import helmet from 'helmet';
import { pinoHttp } from 'pino-http';
import { parseCredential } from '../../../src/keys/credential.ts';
import { NEVER_REACHED_LIMIT } from '../load/traffic.ts';
import { makeTicketDatabase, USUAL_DATABASE } from './ticket-databases.ts';
import { FILTERS, type TicketQuery, UsualTickets } from './usual-tickets.ts';

/**
 * The way such a service is usually written: Express as it comes with the usual middleware, and a database that is
 * asked on each request. Its arguments are the snapshot that its database is made of, the keys file, and its database.
 */

interface UsualKey {
  readonly keyId: string;
  readonly organizationId: string;
  /** SHA-256 of the secret. */
  readonly digest: Buffer;
}

/** The keys that are good, in memory, each compared as one usually does. */
class UsualKeys {
  readonly #byOrganization: ReadonlyMap<string, readonly UsualKey[]>;

  constructor(file: string) {
    const database = new Database(file, { readonly: true, fileMustExist: true });
    const keys = database
      .prepare<[], UsualKey>(
        `SELECT key_id AS keyId, organization_id AS organizationId, digest FROM keys WHERE revoked_at IS NULL`,
      )
      .all();
    database.close();
    this.#byOrganization = Map.groupBy(keys, ({ organizationId }) => organizationId);
  }

  /** @param header value of Authorization */
  find(header: string): UsualKey | undefined {
    const credential = parseCredential(header);
    if (credential === undefined) return undefined;
    const digest = hash('sha256', credential.secret, 'buffer');
    return this.#byOrganization
      .get(credential.organizationId)
      ?.find((key) => timingSafeEqual(key.digest, digest));
  }
}

const DEFAULT_PER_PAGE = 25;
const MOST_PER_PAGE = 100;

const [, , snapshot, keysFile, database] = process.argv;
if (!existsSync(database)) makeTicketDatabase(snapshot, database, USUAL_DATABASE);
const keys = new UsualKeys(keysFile);
const tickets = new UsualTickets(database);

const app = express();
app.use(helmet());
// What is logged must not open anything.
app.use(pinoHttp({ redact: ['req.headers.authorization'] }));
app.use(authenticate());
app.use(
  rateLimit({
    windowMs: 60_000,
    limit: NEVER_REACHED_LIMIT,
    standardHeaders: 'draft-8',
    legacyHeaders: false,
    keyGenerator: (_request, response) => keyOf(response).keyId,
  }),
);
app.get('/v1/tickets', (request, response) => {
  const query = readQuery(request);
  if (query === undefined) {
    response.status(400).json({ detail: 'page or perPage is wrong' });
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

function authenticate(): RequestHandler {
  return (request, response, next) => {
    const key = keys.find(request.get('authorization') ?? '');
    if (key === undefined) response.status(403).json({ detail: 'the key is not known' });
    else {
      response.locals['key'] = key;
      next();
    }
  };
}

function keyOf(response: Response): UsualKey {
  return response.locals['key'] as UsualKey;
}

/** Undefined when a number is out of its range. */
function readQuery({ query }: Request): TicketQuery | undefined {
  const page = Number(query['page'] ?? 1);
  const perPage = Number(query['perPage'] ?? DEFAULT_PER_PAGE);
  const isRight =
    Number.isInteger(page) &&
    page >= 1 &&
    Number.isInteger(perPage) &&
    perPage >= 1 &&
    perPage <= MOST_PER_PAGE;
  if (!isRight) return undefined;
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
