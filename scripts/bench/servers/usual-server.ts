import type { AddressInfo } from 'node:net';
import express, { type Request, type RequestHandler, type Response } from 'express';
import { rateLimit } from 'express-rate-limit';
import helmet from 'helmet';
import { pinoHttp } from 'pino-http';
import { UNREACHED_RATE_LIMIT } from '../load/traffic.ts';
import { conditionsOf, type DatabaseSettings, keyCheck, TicketDatabase } from './ticket-database.ts';

/** A read API as it is usually written: Express with the usual middleware and an SQL query for each request. */

const DEFAULT_PER_PAGE = 25;
const MAX_PER_PAGE = 100;

function serve(settings: DatabaseSettings): void {
  const tickets = new TicketDatabase(settings);
  const app = express();
  app.use(helmet());
  // The log must not contain credentials.
  app.use(pinoHttp({ redact: ['req.headers.authorization'] }));
  app.use(authenticate(keyCheck(settings)));
  app.use(
    rateLimit({
      windowMs: 60_000,
      limit: UNREACHED_RATE_LIMIT,
      standardHeaders: 'draft-8',
      legacyHeaders: false,
      keyGenerator: (_request, response) => organizationOf(response),
    }),
  );
  app.get('/v1/tickets', (request, response) => {
    const { query } = request;
    const [page, perPage] = [Number(query['page'] ?? 1), Number(query['perPage'] ?? DEFAULT_PER_PAGE)];
    if (!isWithin(page, Infinity) || !isWithin(perPage, MAX_PER_PAGE)) {
      response.status(400).json({ detail: 'page or perPage is out of range' });
      return;
    }
    const conditions = conditionsOf(organizationOf(response), query);
    const totalPages = Math.ceil(tickets.count(conditions) / perPage);
    // Skipping and sorting read an index alone; only the records of the page come from the table.
    const records = tickets
      .statement(
        `SELECT record FROM tickets WHERE rowid IN (
           SELECT rowid FROM tickets WHERE ${conditions.where} ORDER BY issued_at DESC, ticket_id LIMIT ? OFFSET ?
         ) ORDER BY issued_at DESC, ticket_id`,
      )
      .all(...conditions.values, perPage, (page - 1) * perPage);
    const items = records.map((record) => JSON.parse(String(record)) as unknown);
    const hasMore = page < totalPages;
    const nextPage = hasMore ? nextPageOf(request, page + 1) : null;
    response.set('Cache-Control', 'private, no-cache');
    response.json({ items, page, perPage, totalPages, hasMore, nextPage });
  });
  app.get('/v1/tickets/:ticketId', (request, response) => {
    const record = tickets.record(organizationOf(response), request.params.ticketId);
    if (record === undefined) response.status(404).json({ detail: 'no such ticket' });
    else response.set('Cache-Control', 'private, no-cache').json(JSON.parse(record));
  });
  const server = app.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
}

function authenticate(organizationOf: ReturnType<typeof keyCheck>): RequestHandler {
  return (request, response, next) => {
    const organizationId = organizationOf(request.get('authorization') ?? '');
    if (organizationId === undefined) response.status(403).json({ detail: 'unknown key' });
    else {
      response.locals['organizationId'] = organizationId;
      next();
    }
  };
}

function organizationOf(response: Response): string {
  return String(response.locals['organizationId']);
}

function isWithin(value: number, most: number): boolean {
  return Number.isInteger(value) && value >= 1 && value <= most;
}

function nextPageOf(request: Request, page: number): string {
  const url = new URL(request.originalUrl, `${request.protocol}://${request.get('host') ?? ''}`);
  url.searchParams.set('page', String(page));
  return url.href;
}

process.once('message', serve);
process.send?.('ready');
