import express from 'express';
import type { Express, RequestHandler } from 'express';
import type { Logger } from 'pino';
import type { Config } from './config.ts';
import { openApiDocument } from './contract/openapi.ts';
import type { Release } from './contract/releases.ts';
import type { Gatekeepers } from './http/admit.ts';
import { OPERATIONS } from './contract/operations.ts';
import { answerOperation } from './http/answer-operations.ts';
import { answerDocument, answerHealth } from './http/documents.ts';
import { Editions } from './http/editions.ts';
import { fail, noSuchPath } from './http/fail.ts';
import { otherMethods } from './http/methods.ts';
import { routePath } from './http/path.ts';
import type { HitCounterOptions } from './http/hit-counter.ts';
import { rateLimitPerKey } from './http/rate-limit.ts';
import type { Sources } from './http/sources.ts';

export interface Dependencies extends Gatekeepers {
  readonly config: Pick<Config, 'publicBaseUrl' | 'trustProxy' | 'rateLimitPerMinute'>;
  /** Every release, earliest first. */
  readonly releases: readonly Release[];
  /** What the rate limit counts in, when that is shared with others. */
  readonly hits?: HitCounterOptions;
  readonly log: Logger;
}

const noLimit: RequestHandler = (_request, _response, next) => {
  next();
};

/** The API. It is served by `createServer` of `http/server.ts`. */
export function createApp(dependencies: Dependencies): Express {
  const { config, stores, releases, hits, log } = dependencies;
  const editions = new Editions(releases);
  const origin = { publicBaseUrl: config.publicBaseUrl, trustsProxies: config.trustProxy !== false };
  const sources: Sources = { stores, editions, origin };
  const limit =
    config.rateLimitPerMinute === 0 ? noLimit : rateLimitPerKey(config.rateLimitPerMinute, log, hits);

  const app = express();
  app.disable('x-powered-by');
  app.enable('case sensitive routing');
  app.enable('strict routing');
  app.set('trust proxy', config.trustProxy);

  for (const operation of OPERATIONS) {
    app
      .route(routePath(operation))
      .get(answerOperation(operation, dependencies, limit, sources))
      .all(otherMethods);
  }
  app
    .route('/openapi.json')
    .get(answerDocument(openApiDocument(releases, config.publicBaseUrl)))
    .all(otherMethods);
  app.route('/healthz').get(answerHealth).all(otherMethods);
  app.use(noSuchPath);
  app.use(fail(log));
  return app;
}
