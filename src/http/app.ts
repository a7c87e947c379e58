import express, {
  type ErrorRequestHandler,
  type Express,
  type Request,
  type RequestHandler,
  type Response,
} from 'express';
import type { Logger } from 'pino';
import { openApiDocument } from '../contract/openapi/document.ts';
import { type Operation, OPERATIONS } from '../contract/operations.ts';
import type { Release } from '../contract/releases.ts';
import type { KeyRing } from '../keys/key-ring.ts';
import type { OrganizationStore } from '../store/organization-store.ts';
import type { StoreView } from '../store/registry/store-view.ts';
import { authenticate } from './checks/authenticate.ts';
import { checkAvailability, storeOf } from './checks/availability.ts';
import { noRateLimit, rateLimitPerKey, type SharedHits } from './checks/rate-limit.ts';
import { checkVersion } from './checks/version.ts';
import { documentHandler, healthHandler, otherMethodsHandler } from './handlers/documents.ts';
import { listHandler } from './handlers/list.ts';
import { recordHandler } from './handlers/record.ts';
import { NO_SUCH_PATH, problemOf, UNEXPECTED } from './response/problem.ts';
import { sendProblem } from './response/send.ts';
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
  /** Returns the view to answer from. */
  readonly stores: () => StoreView;
  /** Undefined until there is a keys file. */
  readonly keys: () => KeyRing | undefined;
  /** Whether requests arrive faster than they can be answered. */
  readonly overload: () => boolean;
  /** Every release, earliest first. */
  readonly releases: readonly Release[];
  readonly hits: SharedHits;
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
    app.route(routePath(operation)).get(handle(operation)).all(otherMethodsHandler);
  const document = openApiDocument(releases, config.publicBaseUrl);
  app.route('/openapi.json').get(documentHandler(document)).all(otherMethodsHandler);
  app.route('/healthz').get(healthHandler).all(otherMethodsHandler);
  app.use(noSuchPath);
  app.use(fail(log));
  return app;
}

/** Answers an operation for an authenticated caller, from the live store of its organization. */
type Answer = (store: OrganizationStore, request: Request, response: Response, view: StoreView) => void;

/** The order of the checks of a request to the API. Those of its query follow in the answer. */
function handlerMaker(dependencies: Dependencies): (operation: Operation) => RequestHandler {
  const { config, stores, keys, overload, releases, hits, log } = dependencies;
  const { publicBaseUrl, trustProxy, rateLimitPerMinute } = config;
  const origin = { publicBaseUrl, trustsProxies: trustProxy !== false };
  const limitRate = rateLimitPerMinute === 0 ? noRateLimit : rateLimitPerKey(rateLimitPerMinute, hits, log);
  return (operation) => {
    const answer: Answer =
      operation.kind === 'list' ? listHandler(operation, origin) : recordHandler(operation);
    return (request, response, next) => {
      const { context } = response.locals;
      context.operation = operation.id;
      const view = stores();
      checkAvailability(overload(), view);
      const caller = authenticate(request, keys());
      context.caller = caller;
      void limitRate(request, response, (error?: unknown) => {
        if (error !== undefined) {
          next(error);
          return;
        }
        const store = storeOf(view, caller.organizationId);
        checkVersion(operation, request, context.version, releases);
        answer(store, request, response, view);
      });
    };
  };
}

export const noSuchPath: RequestHandler = () => {
  throw NO_SUCH_PATH;
};

/** The one place where errors of all layers become a status. */
export function fail(log: Logger): ErrorRequestHandler {
  return (error: unknown, _request, response, next) => {
    const problem = problemOf(error);
    const { context } = response.locals;
    const { requestId, operation } = context;
    context.later = problem?.later;
    if (problem === undefined) log.error({ err: error, requestId, operation }, 'unexpected error');
    // A response that has begun cannot become another: Express ends its connection.
    if (response.headersSent) next(error);
    else sendProblem(response, problem ?? UNEXPECTED);
  };
}
