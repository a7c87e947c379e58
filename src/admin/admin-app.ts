import express, { type ErrorRequestHandler, type Express, type RequestHandler, type Response } from 'express';
import type { Logger } from 'pino';
import { Problem, problemOf, UNEXPECTED } from '../http/response/problem.ts';
import { pageOf } from '../pages/page.ts';
import { NO_STORE, SECURITY_HEADERS, securityHeaders } from '../http/response/send.ts';
import type { AdminDependencies } from './admin-state.ts';
import { METRICS_CONTENT_TYPE, metricsText } from './prometheus.ts';
import { reasonsNotReady } from './readiness.ts';
import { statusOf } from './status.ts';

const JSON_TYPE = 'application/json';
const METHOD_NOT_ALLOWED = new Problem(405, 'The method must be GET or HEAD.', {
  headers: ['Allow', 'GET, HEAD'],
});

/** Creates the app of the admin port, which requires no key. */
export function createAdminApp(dependencies: AdminDependencies): Express {
  const pages: Readonly<Record<string, RequestHandler>> = {
    ...statusPage(),
    '/livez': (_request, response) => {
      sendJson(response, 200, { status: 'ok' });
    },
    '/readyz': (_request, response) => {
      const reasons = reasonsNotReady(dependencies);
      const isReady = reasons.length === 0;
      sendJson(response, isReady ? 200 : 503, { status: isReady ? 'ready' : 'not ready', reasons });
    },
    '/metrics': async (_request, response) => {
      send(response, 200, METRICS_CONTENT_TYPE, await metricsText(dependencies));
    },
    '/status': (_request, response) => {
      sendJson(response, 200, statusOf(dependencies));
    },
  };
  const noSuchPage = new Problem(404, `No such path. The paths are ${Object.keys(pages).join(', ')}.`);

  const app = express();
  app.disable('x-powered-by');
  app.enable('case sensitive routing');
  app.enable('strict routing');
  for (const [path, page] of Object.entries(pages)) {
    app
      .route(path)
      .get(page)
      .all(() => {
        throw METHOD_NOT_ALLOWED;
      });
  }
  app.use(() => {
    throw noSuchPage;
  });
  app.use(sendError(dependencies.log.logger));
  return app;
}

/** Returns the handlers of the status page and its files. */
function statusPage(): Readonly<Record<string, RequestHandler>> {
  const { document, files, contentSecurityPolicy } = pageOf('status');
  const security = securityHeaders(contentSecurityPolicy);
  const handlers = [{ ...document, path: '' }, ...files].map(({ path, contentType, read }) => {
    const handler: RequestHandler = (_request, response) => {
      send(response, 200, contentType, read(), [], security);
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
    send(response, status, JSON_TYPE, body, headers);
  };
}

function sendJson(response: Response, status: number, content: object): void {
  send(response, status, JSON_TYPE, JSON.stringify(content));
}

/** Sends a response. Node omits the body of a response to HEAD. */
function send(
  response: Response,
  status: number,
  contentType: string,
  body: string | Buffer,
  headers: readonly string[] = [],
  security = SECURITY_HEADERS,
): void {
  const length = String(Buffer.byteLength(body));
  const description = ['Content-Type', contentType, 'Content-Length', length];
  response.writeHead(status, [...security, ...NO_STORE, ...headers, ...description]).end(body);
}
