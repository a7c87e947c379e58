import express, {
  type ErrorRequestHandler,
  type Express,
  type Request,
  type RequestHandler,
  type Response,
} from 'express';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import { type ContentCoding, PREFER_HEADER } from '../contract/headers.ts';
import { PUBLIC_PATHS } from '../contract/openapi/public-paths.ts';
import { type Operation, parametersOf, routePath } from '../contract/operations.ts';
import type { Release } from '../contract/releases.ts';
import type { HitCounts } from '../counts/hit-counts.ts';
import type { OpenCounts } from '../counts/open-counts.ts';
import type { RequestMetrics } from '../counts/request-metrics.ts';
import type { KeyRing, ValidKey } from '../keys/key-ring.ts';
import { addStreams } from '../store/organization-image.ts';
import { imageOf, type StoreView } from '../store/registry/store-view.ts';
import { authenticate, NO_SNAPSHOT, storeOf } from './checks/authenticate.ts';
import { addressLimit, countStream, keyLimit } from './checks/limits.ts';
import { OVERLOADED } from './checks/overload.ts';
import type { Pins } from './checks/pin.ts';
import { parseQuery } from './checks/query.ts';
import { checkVersion } from './checks/version.ts';
import type { Connection } from './connections/connection.ts';
import { corsHeaders, isPreflight } from './cors.ts';
import { type addDocumentation, healthHandler, otherMethodsHandler } from './handlers/documents.ts';
import { changesReader } from './reads/changes.ts';
import type { Found, FoundLines } from './reads/reader.ts';
import { linkHeader, recordsReader } from './reads/records.ts';
import { bodyProblem, refuseBody } from './request-body.ts';
import { hasPath, normalizeTarget, originReader, queryOf, RequestContext } from './request-context.ts';
import { Compression } from './response/compression.ts';
import { codedTag, codingHeaders, matchesAnyTag } from './response/etag.ts';
import { type HeaderList, noSuchPath, Problem, problemOf, throwing, UNEXPECTED } from './response/problem.ts';
import { NO_STORE, send, sendProblem } from './response/send.ts';
import { LINES_TYPE, sendStream, takeInTurns } from './response/stream.ts';

export interface Dependencies {
  readonly config: Config;
  /** Counts a request, and returns whether to refuse it because of overload. An exempt one is only counted. */
  readonly overload: (isExempt: boolean) => boolean;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  readonly stores: () => StoreView;
  /** Returns undefined until keys are loaded. */
  readonly keys: () => KeyRing | undefined;
  readonly operations: readonly Operation[];
  readonly hits: HitCounts;
  readonly counts: OpenCounts;
  readonly pins: Pins;
  /** Notes that the valid key of a slot was used at a time, in milliseconds since the epoch. */
  readonly noteKeyUse: (slot: number, now: number) => void;
  readonly metrics: RequestMetrics;
  readonly log: Logger;
  readonly releases: readonly Release[];
  readonly addDocuments: typeof addDocumentation;
}

// RFC 9112, section 3.2. Node joins the values of repeated headers.
const ONE_HOST_NEEDED = new Problem(400, 'An HTTP/1.1 request must have one Host header.', {
  headers: ['Connection', 'close'],
});

/**
 * The API as an Express app. The steps of a request follow one another here, each next to its refusals: `arrive` has
 * those before the router, `#answer` those of an operation, which refuse by throwing a `Problem`, and `#respond` sends.
 */
export class Api {
  readonly app: Express;
  readonly #dependencies: Dependencies;
  readonly #countRequest: ReturnType<typeof keyLimit>;
  readonly #compression: Compression;
  readonly #originOf: ReturnType<typeof originReader>;
  readonly #streams = new Set<
    Pick<FoundLines, 'images'> & { connection: Connection; organizationId: string }
  >();

  constructor(dependencies: Dependencies) {
    const { config, operations, hits, addDocuments, releases, log } = dependencies;
    this.#dependencies = dependencies;
    this.#countRequest = keyLimit(config.rateLimitPerMinute, hits);
    this.#compression = new Compression(config.compression);
    this.#originOf = originReader(config, log);
    this.app = express()
      .disable('x-powered-by')
      .enable('case sensitive routing')
      .enable('strict routing')
      .set('trust proxy', config.trustProxy);
    for (const operation of operations)
      this.app.route(routePath(operation)).get(this.#answer(operation)).all(otherMethodsHandler);
    this.app.route(PUBLIC_PATHS.health).get(healthHandler).all(otherMethodsHandler);
    const descriptions = addDocuments(this.app, config, releases, this.#compression);
    this.app.use(throwing(noSuchPath(descriptions)));
    this.app.use(this.#errorHandler());
  }

  /** Takes the steps of a request before the router. */
  arrive(connection: Connection, request: Request, response: Response): void {
    const { config, overload, releases, clock } = this.#dependencies;
    request.url = normalizeTarget(request.url);
    const context = new RequestContext(connection, request, releases, clock());
    response.locals.context = context;
    const { url, headers, httpVersion } = request;
    // Of refusals, too, so that scripts can read them.
    const isOpenApi = hasPath(url, PUBLIC_PATHS.openApi) || hasPath(url, PUBLIC_PATHS.openApi30);
    const origins = isOpenApi ? '*' : config.corsOrigins;
    if (origins !== undefined) context.headers.push(...corsHeaders(request, origins));
    const isAnsweredHere = origins !== undefined && isPreflight(request);
    // Before all others, since Node reads the body of a request that has its response to its end.
    const body = bodyProblem(request);
    if (body !== undefined) {
      refuseBody(response, body); //                                         400 · 413, closed
      return;
    }
    // A balancer must not take an overloaded replica for a dead one. A preflight costs as much as its refusal, which a
    // browser would hide from the script.
    if (overload(isAnsweredHere || hasPath(url, PUBLIC_PATHS.health))) {
      context.isLogged = false;
      sendProblem(response, OVERLOADED); //                                  429
      return;
    }
    if (headers.host === undefined ? httpVersion === '1.1' : headers.host.includes(', ')) {
      sendProblem(response, ONE_HOST_NEEDED); //                             400
      return;
    }
    if (isAnsweredHere) {
      send(response, 204, NO_STORE); //                                      204: preflight
      return;
    }
    this.app(request, response); //                                          404: no such path · 405: other method
  }

  /** Closes the connections of streams whose data is released, since they hold its memory. */
  endReleasedStreams(): void {
    const view = this.#dependencies.stores();
    for (const { connection, organizationId, images } of this.#streams)
      if (!images.every((image) => imageOf(view.get(organizationId), image) !== undefined)) connection.end();
  }

  #answer(operation: Operation): RequestHandler {
    const { config, keys, stores, pins, noteKeyUse } = this.#dependencies;
    const parameters = parametersOf(operation);
    const read =
      operation.kind === 'changes'
        ? changesReader(operation, pins, config.changesWaitSeconds * 1000)
        : recordsReader(operation, pins, this.#originOf);

    return (request, response, next) => {
      const { context } = response.locals;
      context.operation = operation.id;
      const view = stores();
      if (view.size === 0) throw NO_SNAPSHOT; //                             429: no data yet
      const caller = authenticate(request, keys(), context.now); //          400: no key, malformed · 403 · 429: no keys yet
      context.caller = caller;
      context.connection.keyId = caller.keyId;
      noteKeyUse(caller.slot, context.now);
      this.#countRequest(caller.slot, context.headers); //                   429: over the limit of the key
      const store = storeOf(view, caller.organizationId); //                 429: organization not loaded
      checkVersion(operation, request, context.version); //                  400: invalid · 404: not in this version
      const query = parseQuery(queryOf(request.url), parameters, request.get(PREFER_HEADER));
      context.headers.push(...query.headers);
      // 400: all violations of the query, content of the link gone, lines by HTTP/1.0 · 404: no such record, or parent event
      // 429: content of the link, or snapshot of the token, perhaps not loaded yet
      const found = read({ request, context, caller, store, query });
      this.#respond(response, caller, found).catch(next);
    };
  }

  async #respond(response: Response, caller: ValidKey, { headers, tag, content }: Found): Promise<void> {
    const { counts } = this.#dependencies;
    const { req: request } = response;
    if (content.is === 'known') {
      send(response, 304, [...headers, 'ETag', content.tag]); //             304
      return;
    }
    if (content.is === 'beyond the last page') {
      send(response, 204, headers); //                                       204
      return;
    }
    let body = content.is === 'body' ? content.body : undefined;
    if (body !== undefined && 'next' in body) {
      countStream(counts, response, caller.slot); //                         429: two streams of the key are open
      body = await takeInTurns(body, response);
      // The connection has closed.
      if (body === undefined) return;
    }
    // An empty stream stays plain.
    const coding = content.rows > 0 ? this.#compression.codingFor(request, body) : undefined;
    if (tag !== undefined && matchesAnyTag(request.headers['if-none-match'])) {
      send(response, 304, [...headers, 'ETag', codedTag(tag, coding)]); //   304
      return;
    }
    const isStream = content.is === 'lines' && request.method !== 'HEAD';
    if (isStream) countStream(counts, response, caller.slot); //             429: two streams of the key are open
    response.locals.context.rows = content.rows;
    if (content.is === 'lines') {
      const all = [...headers, ...content.headers, ...codingHeaders(coding, tag)];
      if (isStream)
        await this.#stream(response, caller.organizationId, all, coding, content); // 200
      else send(response, 200, [...all, ...LINES_TYPE]); //                  200: HEAD
    } else if (body !== undefined) {
      const all = [...headers, ...linkHeader(content.nextPage)];
      await this.#compression.send(response, all, coding, tag, body); //     200
    }
  }

  async #stream(
    response: Response,
    organizationId: string,
    headers: HeaderList,
    coding: ContentCoding | undefined,
    { images, read }: FoundLines,
  ): Promise<void> {
    const compressor = coding && this.#compression.compressorFor(response, coding);
    const stream = { connection: response.locals.context.connection, organizationId, images };
    this.#streams.add(stream);
    for (const image of images) addStreams(image, 1);
    try {
      await sendStream(response, headers, read, compressor);
    } finally {
      this.#streams.delete(stream);
      for (const image of images) addStreams(image, -1);
    }
  }

  /** Creates the error handler, which converts the errors of all layers into responses. */
  #errorHandler(): ErrorRequestHandler {
    const { config, log } = this.#dependencies;
    const limitAddress = addressLimit(config.refusalsPerMinute);
    // Express recognizes error handlers by their four parameters.
    // eslint-disable-next-line @typescript-eslint/no-unused-vars
    return (error: unknown, request, response, _next) => {
      const { connection, requestId, operation, caller } = response.locals.context;
      const problem = problemOf(error);
      if (problem === undefined) log.error({ err: error, requestId, operation }, 'unexpected error');
      // Otherwise, a response that has begun would look complete. Express would also print the error.
      if (response.headersSent) connection.end();
      else if (caller !== undefined || problem?.status === 429) sendProblem(response, problem ?? UNEXPECTED);
      else
        void limitAddress(request, response, () => {
          sendProblem(response, problem ?? UNEXPECTED);
        });
    };
  }
}
