import express from 'express';
import type { Express, Request, RequestHandler, Response } from 'express';
import type { Logger } from 'pino';
import { openApiDocument } from '../contract/openapi.ts';
import { OPERATIONS } from '../contract/operations.ts';
import type { Operation } from '../contract/operations.ts';
import type { Release } from '../contract/releases.ts';
import type { KeyRing } from '../keys/key-ring.ts';
import type { OrganizationStore } from '../store/organization-store.ts';
import type { ServedStores } from '../store/served-stores.ts';
import { authenticate } from './checks/authenticate.ts';
import { checkAvailability, storeOf } from './checks/availability.ts';
import type { HitCounterOptions } from './checks/hit-counter.ts';
import { noRateLimit, rateLimitPerKey } from './checks/rate-limit.ts';
import { checkVersion } from './checks/version.ts';
import { answerDocument, answerHealth } from './handlers/documents.ts';
import { answerList } from './handlers/list.ts';
import { otherMethods } from './handlers/methods.ts';
import { answerRecord } from './handlers/record.ts';
import { fail, noSuchPath } from './response/fail.ts';
import { routePath } from './target.ts';

export interface ApiConfig {
  /** Begins the links in responses, in place of the address of the request. */
  readonly publicBaseUrl: string | undefined;
  /** Express's `trust proxy`. */
  readonly trustProxy: boolean | number | readonly string[];
  /** Requests a minute for each key; 0 sets no limit. */
  readonly rateLimitPerMinute: number;
}

export interface Dependencies {
  readonly config: ApiConfig;
  readonly stores: ServedStores;
  /** Undefined until there is a keys file. */
  readonly keys: () => KeyRing | undefined;
  /** Whether requests arrive faster than they can be answered. */
  readonly overload: () => boolean;
  /** Every release, earliest first. */
  readonly releases: readonly Release[];
  /** The counts of the rate limit, when threads share them. */
  readonly hits?: HitCounterOptions;
  readonly log: Logger;
}

/** Makes the API. `createServer` of `http/server.ts` serves it. */
export function createApp(dependencies: Dependencies): Express {
  const { config, releases, log } = dependencies;
  const app = express();
  app.disable('x-powered-by');
  app.enable('case sensitive routing');
  app.enable('strict routing');
  app.set('trust proxy', config.trustProxy);

  const handle = handlerMaker(dependencies);
  for (const operation of OPERATIONS)
    app.route(routePath(operation)).get(handle(operation)).all(otherMethods);
  const document = openApiDocument(releases, config.publicBaseUrl);
  app.route('/openapi.json').get(answerDocument(document)).all(otherMethods);
  app.route('/healthz').get(answerHealth).all(otherMethods);
  app.use(noSuchPath);
  app.use(fail(log));
  return app;
}

/** Answers an operation for an authenticated caller, from the live store of its organization. */
type Answer = (store: OrganizationStore, request: Request, response: Response) => void;

/** The order of the checks of a request to the API. Those of its query follow in the answer. */
function handlerMaker(dependencies: Dependencies): (operation: Operation) => RequestHandler {
  const { config, stores, keys, overload, hits, log } = dependencies;
  const { publicBaseUrl, trustProxy, rateLimitPerMinute } = config;
  const origin = { publicBaseUrl, trustsProxies: trustProxy !== false };
  const limitRate = rateLimitPerMinute === 0 ? noRateLimit : rateLimitPerKey(rateLimitPerMinute, log, hits);
  return (operation) => {
    const answer: Answer =
      operation.kind === 'list' ? answerList(operation, stores, origin) : answerRecord(operation);
    return (request, response, next) => {
      const { context } = response.locals;
      context.operation = operation.id;
      checkAvailability(overload(), stores);
      const caller = authenticate(request, keys());
      context.caller = caller;
      void limitRate(request, response, (error?: unknown) => {
        if (error !== undefined) {
          next(error);
          return;
        }
        const store = storeOf(stores, caller.organizationId);
        checkVersion(operation, request, context);
        answer(store, request, response);
      });
    };
  };
}
