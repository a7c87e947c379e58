import { isIP } from 'node:net';
import express, {
  type ErrorRequestHandler,
  type Express,
  type Request,
  type RequestHandler,
  type Response,
} from 'express';
import type { Logger } from 'pino';
import { isLoopback } from '../config.ts';
import { JSON_TYPE } from '../contract/headers.ts';
import { INSTANT } from '../contract/parameter.ts';
import { parseTimestamp } from '../contract/timestamp.ts';
import { Problem, problemOf, throwing, UNEXPECTED } from '../http/response/problem.ts';
import { NO_STORE, SECURITY_HEADERS, securityHeadersOfPage } from '../http/response/send.ts';
import { pageOf } from '../pages/page.ts';
import { type AdminDependencies, reasonsNotReady } from './admin-state.ts';
import { METRICS_CONTENT_TYPE, metricsText } from './prometheus.ts';
import { keysPage, listQuery, organizationsPage, statusOf, summaryOf } from './status.ts';

const METHOD_NOT_ALLOWED = new Problem(405, 'The method must be GET or HEAD.', {
  headers: ['Allow', 'GET, HEAD'],
});
const FOREIGN_HOST = new Problem(
  421,
  'The Host must be an IP address or localhost while the admin port listens on a loopback address. A proxy must set it so.',
);

/** Creates the app of the admin port, which requires no key. */
export function createAdminApp(dependencies: AdminDependencies): Express {
  const documents: Readonly<Record<string, RequestHandler>> = {
    '/livez': json(() => ({ status: 'ok' })),
    '/readyz': json((query, response) => {
      const reasons = reasonsNotReady(dependencies, producedAfter(query));
      if (reasons.length > 0) response.status(503);
      return { status: reasons.length > 0 ? 'not ready' : 'ready', reasons };
    }),
    '/metrics': async (_request, response) => {
      send(response, METRICS_CONTENT_TYPE, await metricsText(dependencies));
    },
    '/status': json(() => statusOf(dependencies)),
    '/summary': json(() => summaryOf(dependencies)),
    '/organizations': json((query) => organizationsPage(dependencies, listQuery(query))),
    '/keys': json((query) => keysPage(dependencies, listQuery(query))),
    '/history': json(() => ({ intervals: dependencies.requestHistory(dependencies.clock()) })),
  };
  const noSuchPath = new Problem(404, `No such path. The paths are /, ${Object.keys(documents).join(', ')}.`);

  const app = express();
  app.disable('x-powered-by');
  app.enable('case sensitive routing');
  app.enable('strict routing');
  app.use(({ headers: { host } }, _response, next) => {
    if (isLoopback(dependencies.config.adminHost) && isForeign(host)) throw FOREIGN_HOST;
    next();
  });
  for (const [path, handler] of Object.entries({ ...documents, ...statusPage() }))
    app.route(path).get(handler).all(throwing(METHOD_NOT_ALLOWED));
  app.use(throwing(noSuchPath));
  app.use(sendError(dependencies.log.logger));
  return app;
}

/** @throws Problem 400 unless it is absent or one timestamp */
function producedAfter({ 'produced-after': time }: Request['query']): string | undefined {
  if (time === undefined || (typeof time === 'string' && parseTimestamp(time) !== undefined)) return time;
  throw new Problem(400, `produced-after must be given once, and ${INSTANT.ctx('', '')}.`);
}

/**
 * Returns whether a Host header has a name that an owner of a domain could point to a loopback address. A page of that
 * domain could otherwise read the admin port through the browser of an operator (DNS rebinding).
 */
function isForeign(host: string | undefined): boolean {
  if (host === undefined) return false;
  const { hostname } = URL.parse(`http://${host}`) ?? { hostname: '' };
  return hostname !== 'localhost' && isIP(hostname.replace(/^\[|\]$/g, '')) === 0;
}

function statusPage(): Readonly<Record<string, RequestHandler>> {
  const { document, files, contentSecurityPolicy } = pageOf('status');
  const security = securityHeadersOfPage(contentSecurityPolicy);
  const handlers = [{ ...document, path: '' }, ...files].map(({ path, contentType, read }) => {
    const handler: RequestHandler = (_request, response) => {
      send(response, contentType, read(), security);
    };
    return [`/${path}`, handler] as const;
  });
  return Object.fromEntries(handlers);
}

function sendError(log: Logger): ErrorRequestHandler {
  // Express recognizes an error handler by its four parameters.
  // eslint-disable-next-line @typescript-eslint/no-unused-vars
  return (error: unknown, _request, response, _next) => {
    const problem = problemOf(error);
    if (problem === undefined) log.error({ err: error }, 'unexpected error on the admin port');
    const { status, headers, body } = problem ?? UNEXPECTED;
    send(response.status(status), JSON_TYPE, body, [...SECURITY_HEADERS, ...headers]);
  };
}

/** Returns a handler that sends JSON, with the status that it sets on the response. */
function json(contentOf: (query: Request['query'], response: Response) => object): RequestHandler {
  return ({ query }, response) => {
    send(response, JSON_TYPE, JSON.stringify(contentOf(query, response)));
  };
}

/** Sends a response with the status that it has. Node omits the body of a response to HEAD. */
function send(
  response: Response,
  contentType: string,
  body: string | Buffer,
  headers = SECURITY_HEADERS,
): void {
  const length = String(Buffer.byteLength(body));
  const description = ['Content-Type', contentType, 'Content-Length', length];
  response.writeHead(response.statusCode, [...headers, ...NO_STORE, ...description]).end(body);
}
