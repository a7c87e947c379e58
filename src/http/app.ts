import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express';
import type { Logger } from 'pino';
import { PUBLIC_PATHS } from '../contract/openapi/public-paths.ts';
import type { Operation } from '../contract/operations.ts';
import type { Release } from '../contract/releases.ts';
import type { KeyRing } from '../keys/key-ring.ts';
import type { StoreView } from '../store/registry/store-view.ts';
import { authenticate } from './checks/authenticate.ts';
import { checkAvailability, storesOf } from './checks/availability.ts';
import type { Pins } from './checks/pin.ts';
import type { RefusalBudget } from './checks/refusal-budget.ts';
import { StreamLimit } from './checks/stream-limit.ts';
import { noRateLimit, rateLimitPerKey, type SharedHits } from './checks/rate-limit.ts';
import { checkVersion, headersOfEnd } from './checks/version.ts';
import { addDocumentation, descriptionsOf, type DocumentationConfig } from './handlers/documentation.ts';
import { healthHandler, otherMethodsHandler } from './handlers/documents.ts';
import { listHandler } from './handlers/list.ts';
import { recordHandler } from './handlers/record.ts';
import type { RequestMetrics } from './request-metrics.ts';
import { Compression } from './response/compression.ts';
import type { OriginOptions } from './response/links.ts';
import { noSuchPath, type Problem, problemOf, UNEXPECTED } from './response/problem.ts';
import { sendProblem } from './response/send.ts';
import { routePath } from './target.ts';
import type { WorkerCounts } from './worker-counts.ts';

export interface ApiConfig extends OriginOptions, DocumentationConfig {
  /** Requests per minute for each key; 0 for no limit. */
  readonly rateLimitPerMinute: number;
  /** Whether responses are compressed for clients that accept it. */
  readonly compression: boolean;
}

export interface Dependencies {
  readonly config: ApiConfig;
  readonly stores: () => StoreView;
  /** Returns undefined until keys are loaded. */
  readonly keys: () => KeyRing | undefined;
  readonly operations: readonly Operation[];
  /** Every release, earliest first. */
  readonly releases: readonly Release[];
  readonly hits: SharedHits;
  /** Open streams by the slot of their key. */
  readonly streamCounts: WorkerCounts;
  readonly metrics: RequestMetrics;
  readonly refusals: RefusalBudget;
  readonly pins: Pins;
  /** Notes that a valid key was used at a time, in milliseconds since the epoch. */
  readonly noteUse: (keyId: string, now: number) => void;
  readonly log: Logger;
}

/** Creates the API, which `createServer` of `http/server.ts` serves. */
export function createApp(dependencies: Dependencies): Express {
  const { config, operations, releases, refusals, log } = dependencies;
  const app = express();
  app.disable('x-powered-by');
  app.enable('case sensitive routing');
  app.enable('strict routing');
  app.set('trust proxy', config.trustProxy);

  const compression = new Compression(config.compression);
  const handlerOf = handlerFactory(dependencies, compression);
  for (const operation of operations)
    app.route(routePath(operation)).get(handlerOf(operation)).all(otherMethodsHandler);
  if (config.docs) addDocumentation(app, config, { operations, releases }, compression);
  app.route(PUBLIC_PATHS.health.path).get(healthHandler).all(otherMethodsHandler);
  app.use(notFoundHandler(noSuchPath(descriptionsOf(config))));
  app.use(errorHandler(refusals, log));
  return app;
}

/** Runs the checks of an API request in order. The handler of the operation checks the query. */
function handlerFactory(
  dependencies: Dependencies,
  compression: Compression,
): (operation: Operation) => RequestHandler {
  const { config, stores, keys, releases, hits, pins, noteUse, log, metrics } = dependencies;
  const { rateLimitPerMinute } = config;
  const limitRate = rateLimitPerMinute === 0 ? noRateLimit : rateLimitPerKey(rateLimitPerMinute, hits, log);
  const limit = new StreamLimit(dependencies.streamCounts, hits.slotOf, metrics);
  const listOptions = { originOptions: config, limit, pins, stores, compression };
  return (operation) => {
    const handle =
      operation.kind === 'list' ? listHandler(operation, listOptions) : recordHandler(operation, compression);
    const endHeaders = headersOfEnd(operation.end);
    return (request, response, next) => {
      const { context } = response.locals;
      context.operation = operation.id;
      if (operation.end !== undefined) context.endHeaders = endHeaders;
      const view = stores();
      checkAvailability(view);
      const caller = authenticate(request, keys(), context.now);
      context.caller = caller;
      noteUse(caller.keyId, context.now);
      void limitRate(request, response, (error?: unknown) => {
        if (error !== undefined) {
          next(error);
          return;
        }
        const storesOfCaller = storesOf(view, caller.organizationId);
        checkVersion(operation, request, context.version, releases);
        handle(storesOfCaller, request, response, next);
      });
    };
  };
}

export function notFoundHandler(problem: Problem): RequestHandler {
  return () => {
    throw problem;
  };
}

/** Creates the error handler of the API. It converts the errors of all layers into responses. */
export function errorHandler(refusals: RefusalBudget, log: Logger): ErrorRequestHandler {
  // Express recognizes error handlers by their four parameters.
  // eslint-disable-next-line @typescript-eslint/no-unused-vars
  return (error: unknown, request, response, _next) => {
    const { requestId, operation, caller } = response.locals.context;
    const problem = problemOf(error);
    if (problem === undefined) log.error({ err: error, requestId, operation }, 'unexpected error');
    // Otherwise, a response that has begun would look complete. Express would also print the error.
    if (response.headersSent) response.destroy();
    else if (problem === undefined) sendProblem(response, UNEXPECTED);
    else if (caller === undefined) refusals.refuse(request, response, problem);
    else sendProblem(response, problem);
  };
}
