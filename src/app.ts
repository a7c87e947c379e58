import express from 'express';
import type { Express, RequestHandler } from 'express';
import type { Logger } from 'pino';
import type { Config } from './config.ts';
import { openApiDocument } from './contract/openapi.ts';
import { OPERATIONS } from './contract/operations.ts';
import type { CollectionName, Operation } from './contract/operations.ts';
import type { Release } from './contract/releases.ts';
import { admit } from './http/admit.ts';
import type { Gatekeepers } from './http/admit.ts';
import { answerList } from './http/answer-list.ts';
import { answerRecord } from './http/answer-record.ts';
import { begin } from './http/begin.ts';
import { answerDocument, answerHealth } from './http/documents.ts';
import { Editions } from './http/editions.ts';
import { fail, noSuchPath } from './http/fail.ts';
import { otherMethods } from './http/methods.ts';
import { routeOf } from './http/path.ts';
import type { HitCounterOptions } from './http/hit-counter.ts';
import { rateLimitPerKey } from './http/rate-limit.ts';
import type { Sources } from './http/sources.ts';
import type { Tally } from './http/tally.ts';

export interface Dependencies extends Gatekeepers {
  readonly config: Pick<Config, 'publicBaseUrl' | 'trustProxy' | 'rateLimitPerMinute'>;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** Every release, earliest first. */
  readonly releases: readonly Release[];
  /** What every request is counted in. */
  readonly tally: Tally;
  /** What the rate limit counts in, when that is shared with others. */
  readonly hits?: HitCounterOptions;
  readonly log: Logger;
}

/** The last is asked for most. */
const DEMAND: readonly CollectionName[] = ['orders', 'tickets'];
/** Express tries one route after the other; no two of them match the same path. */
const MOST_ASKED_FIRST = OPERATIONS.toSorted(
  (a, b) => DEMAND.indexOf(b.collection) - DEMAND.indexOf(a.collection),
);

/** The API. It is served by `createServer` of `http/server.ts`. */
export function createApp(dependencies: Dependencies): Express {
  const { config, stores, clock, releases, tally, hits, log } = dependencies;
  const editions = new Editions(releases);
  const sources: Sources = { stores, editions, publicBaseUrl: config.publicBaseUrl };
  const limit =
    config.rateLimitPerMinute === 0 ? [] : [rateLimitPerKey(config.rateLimitPerMinute, log, hits)];

  const app = express();
  app.disable('x-powered-by');
  app.enable('case sensitive routing');
  app.enable('strict routing');
  app.set('trust proxy', config.trustProxy);

  app.use(begin(clock, editions, log, tally));
  for (const operation of MOST_ASKED_FIRST) {
    app
      .route(routeOf(operation))
      .get(admit(operation, dependencies), ...limit, answer(operation, sources))
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

function answer(operation: Operation, sources: Sources): RequestHandler {
  return operation.kind === 'list' ? answerList(operation, sources) : answerRecord(operation, sources);
}
