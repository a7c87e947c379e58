import express, {
  type ErrorRequestHandler,
  type Express,
  type Request,
  type RequestHandler,
  type Response,
} from 'express';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import { type ContentCoding, PREFER_HEADER, RECORD_COUNT_HEADER } from '../contract/headers.ts';
import { PUBLIC_PATHS } from '../contract/openapi/public-paths.ts';
import {
  CONTENT_DIGEST_PARAMETER,
  cutsOffers,
  type Operation,
  parametersOf,
  routePath,
} from '../contract/operations.ts';
import type { Release } from '../contract/releases.ts';
import type { KeyRing, ValidKey } from '../keys/key-ring.ts';
import { addStreams, listOf } from '../store/organization-image.ts';
import { sectionOf, type StoreView } from '../store/registry/store-view.ts';
import { authenticate, checkAvailability, storesOf } from './checks/authenticate.ts';
import { OVERLOADED } from './checks/overload.ts';
import { countStream, RateLimit } from './checks/key-limits.ts';
import type { Pins } from './checks/pin.ts';
import { parseQuery } from './checks/query.ts';
import type { RefusalBudget } from './checks/refusal-budget.ts';
import { checkVersion, versionResolver } from './checks/version.ts';
import type { Connection } from './connections/connection.ts';
import { corsHeaders, isPreflight } from './cors.ts';
import { healthHandler, otherMethodsHandler } from './handlers/documents.ts';
import type { HitCounts } from '../counts/hit-counts.ts';
import type { OpenCounts } from '../counts/open-counts.ts';
import { changesReader } from './reads/changes.ts';
import { type Found, type FoundLines, linkHeader, readersOf } from './reads/records.ts';
import { bodyProblem, refuseBody } from './request-body.ts';
import { hasPath, originOf, queryOf, startContext } from './request-context.ts';
import { Compression } from './response/compression.ts';
import { codedTag, codingHeaders, entityTag, matchedTag, matchesAnyTag } from './response/etag.ts';
import {
  type HeaderList,
  HTTP_1_1_NEEDED,
  noSuchPath,
  NO_SUCH_RECORD,
  Problem,
  problemOf,
  UNEXPECTED,
} from './response/problem.ts';
import { dataHeaders, NO_STORE, send, sendProblem } from './response/send.ts';
import { sendStream, takeInTurns } from './response/stream.ts';

type ApiConfig = Pick<
  Config,
  'publicBaseUrl' | 'trustProxy' | 'corsOrigins' | 'rateLimitPerMinute' | 'compression' | 'changesWaitSeconds'
>;

export interface Dependencies {
  readonly config: ApiConfig;
  /** Counts a request, and returns whether to refuse it because of overload. An exempt one is only counted. */
  readonly overload: (isExempt: boolean) => boolean;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  readonly stores: () => StoreView;
  /** Returns undefined until keys are loaded. */
  readonly keys: () => KeyRing | undefined;
  readonly operations: readonly Operation[];
  readonly releases: readonly Release[];
  readonly hits: HitCounts;
  readonly counts: OpenCounts;
  readonly refusals: RefusalBudget;
  readonly pins: Pins;
  /** Notes that the valid key of a slot was used at a time, in milliseconds since the epoch. */
  readonly noteUse: (slot: number, now: number) => void;
  readonly log: Logger;
  /** Adds the routes of documents to the app. Returns the addresses at which the API is described. */
  readonly addDocuments: (app: Express, compression: Compression) => readonly string[];
}

/** The API as an Express app, and the function that passes each request of the server to it. */
export interface Api {
  readonly app: Express;
  readonly arrive: (connection: Connection, request: Request, response: Response) => void;
  /** Closes the connections of streams whose data is released, since they hold its memory. */
  readonly endReleasedStreams: () => void;
}

// RFC 9112, section 3.2. Node joins the values of repeated headers.
const ONE_HOST_NEEDED = new Problem(400, 'An HTTP/1.1 request must have one Host header.');

/**
 * Creates the API. The steps of a request follow one another here, each next to its refusals: `arrive` has those
 * before the router, and `answer` those of an operation, which refuse by throwing a `Problem`.
 */
export function createApi(dependencies: Dependencies): Api {
  const { config, overload, clock, stores, keys, operations } = dependencies;
  const { counts, refusals, pins, noteUse, log } = dependencies;
  const rateLimit = new RateLimit(config.rateLimitPerMinute, dependencies.hits, log);
  const compression = new Compression(config.compression);
  const resolveVersion = versionResolver(dependencies.releases);
  const app = express()
    .disable('x-powered-by')
    .enable('case sensitive routing')
    .enable('strict routing')
    .set('trust proxy', config.trustProxy);

  const arrive: Api['arrive'] = (connection, request, response) => {
    const context = startContext(connection, request, response, resolveVersion, clock());
    const { url, headers, httpVersion } = request;
    // Of refusals, too, so that scripts can read them.
    const isOpenApi = hasPath(url, PUBLIC_PATHS.openApi) || hasPath(url, PUBLIC_PATHS.openApi30);
    const origins = isOpenApi ? '*' : config.corsOrigins;
    if (origins !== undefined) context.corsHeaders = corsHeaders(request, origins);
    const isAnsweredHere = origins !== undefined && isPreflight(request);
    // Before all others, since Node reads the body of any other response to its end.
    const body = bodyProblem(request);
    if (body !== undefined) {
      refusals.refuse(request, response, body, refuseBody); //               400 · 413, closed
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
      refusals.refuse(request, response, ONE_HOST_NEEDED); //                400
      return;
    }
    if (isAnsweredHere) {
      send(response, 204, NO_STORE); //                                      204: preflight
      return;
    }
    app(request, response); //                                               404: no such path · 405: other method
  };

  const answer = (operation: Operation): RequestHandler => {
    const parameters = parametersOf(operation);
    const cutting =
      operation.kind === 'list' ? operation.parameters.filter(({ role }) => cutsOffers(role)) : [];
    const reads =
      operation.kind === 'changes'
        ? { changes: changesReader(operation, pins, config.changesWaitSeconds * 1000) }
        : { list: listOf(operation.collection), readerFor: readersOf(operation) };

    return (request, response, next) => {
      const { context } = response.locals;
      const { now } = context;
      context.operation = operation.id;
      const view = stores();
      checkAvailability(view); //                                       429: no data yet
      const caller = authenticate(request, keys(), now); //             400: no key, malformed · 403 · 429: no keys yet
      context.caller = caller;
      context.connection.keyId = caller.keyId;
      noteUse(caller.slot, now);
      context.rateLimit = rateLimit.count(caller.slot);
      if (context.rateLimit?.isExceeded === true) {
        void rateLimit.refuse(request, response, next); //              429: over the limit of the key
        return;
      }
      const stored = storesOf(view, caller.organizationId); //          429: organization not loaded
      checkVersion(operation, request, context.version); //             400: invalid · 404: not in this version
      const query = parseQuery(queryOf(request.url), parameters, request.get(PREFER_HEADER));
      context.queryHeaders = query.headers;
      if ('changes' in reads) {
        const { live } = stored;
        if (request.httpVersion === '1.0') throw HTTP_1_1_NEEDED; //    400
        const found = reads.changes(query, live, caller, now); //        400: all violations · 429: not loaded yet
        const coding = found.rows === 0 ? undefined : compression.codingFor(request, undefined);
        const headers = [...dataHeaders(live, true), ...codingHeaders(coding)];
        sendLines(response, caller, headers, coding, found).catch(next);
        return;
      }
      const reader = reads.readerFor(request); //                       400: lines by HTTP/1.0
      const pin = query.values.get(CONTENT_DIGEST_PARAMETER)?.at(0);
      const section = pin === undefined ? sectionOf(stored.live, reads.list) : stored.find(reads.list, pin);
      // 400: the content of the link is gone, with all violations of the query · 429: it may not be loaded yet
      if (section === undefined) throw pins.refusal(context, caller, reads.list, query, reader.readQuery);
      const { image } = section;
      if (image !== stored.live.lists[reads.list]) context.pin = 'retained';

      const isPartialView = cutting.some(({ name }) => query.values.has(name));
      const headers = dataHeaders(section, isPartialView);
      const origin = reader.hasLinks ? originOf(request, config) : '';
      const tag = entityTag(reader.contentTag(image, now), context.version?.name, origin, request.url);
      const { 'if-none-match': condition } = request.headers;
      // Before the query is validated, since only responses to valid queries have a tag. Strict handling has the same tag.
      const matched = query.violations.length > 0 ? undefined : matchedTag(condition, tag);
      if (matched !== undefined) {
        // The client may follow the link that it has cached.
        if (reader.hasLinks) pins.noteUse(image);
        send(response, 304, [...headers, 'ETag', matched]); //          304
        return;
      }
      const found = reader.read({ request, query, list: image, origin, now }); // 400: all violations of the query
      if (found === undefined) throw NO_SUCH_RECORD; //                 404: no such record, or parent event
      if (found.is === 'beyond the last page') {
        send(response, 204, headers); //                                204
        return;
      }
      const respond = (found: Exclude<Found, { is: 'beyond the last page' | 'parts' }>) => {
        const body = found.is === 'body' ? found.body : undefined;
        const nextPage = found.is === 'body' ? found.nextPage : undefined;
        if (nextPage !== undefined || pin !== undefined) pins.noteUse(image);
        const coding = compression.codingFor(request, body);
        if (matchesAnyTag(condition)) {
          send(response, 304, [...headers, 'ETag', codedTag(tag, coding)]); // 304
          return;
        }
        headers.push(...linkHeader(nextPage));
        if (found.is === 'lines') {
          headers.push(...codingHeaders(coding, tag), RECORD_COUNT_HEADER, String(found.rows));
          sendLines(response, caller, headers, coding, found).catch(next);
          return;
        }
        context.rows = found.rows;
        if (coding === undefined)
          send(response, 200, [...headers, 'ETag', tag], found.body); // 200
        else compression.send(response, headers, coding, tag, found.body).catch(next);
      };
      if (found.is !== 'parts') respond(found);
      else {
        countStream(counts, response, caller.slot); //                    429: two streams of the key are open
        takeInTurns(found.parts, response)
          .then((body) => {
            if (body !== undefined) respond({ ...found, is: 'body', body });
          })
          .catch(next);
      }
    };
  };

  const streams = new Set<Pick<FoundLines, 'images'> & { connection: Connection; organizationId: string }>();

  const endReleasedStreams = () => {
    const view = stores();
    for (const { connection, organizationId, images } of streams)
      if (!images.every((image) => view.holds(organizationId, image))) connection.end();
  };

  /** @throws Problem 429 when two streams of the key are open */
  const sendLines = async (
    response: Response,
    { slot, organizationId }: ValidKey,
    headers: HeaderList,
    coding: ContentCoding | undefined,
    { rows, images, read }: FoundLines,
  ): Promise<void> => {
    response.locals.context.rows = rows;
    const isHead = response.req.method === 'HEAD';
    if (!isHead) countStream(counts, response, slot);
    const compressor =
      isHead || coding === undefined ? undefined : compression.compressorFor(response, coding);
    const stream = { connection: response.locals.context.connection, organizationId, images };
    streams.add(stream);
    for (const image of images) addStreams(image, 1);
    try {
      await sendStream(response, headers, read, compressor);
    } finally {
      streams.delete(stream);
      for (const image of images) addStreams(image, -1);
    }
  };

  for (const operation of operations)
    app.route(routePath(operation)).get(answer(operation)).all(otherMethodsHandler);
  app.route(PUBLIC_PATHS.health).get(healthHandler).all(otherMethodsHandler);
  const unknownPath = noSuchPath(dependencies.addDocuments(app, compression));
  app.use(() => {
    throw unknownPath;
  });
  app.use(errorHandler(refusals, log));
  return { app, arrive, endReleasedStreams };
}

/** Creates the error handler of the API. It converts the errors of all layers into responses. */
function errorHandler(refusals: RefusalBudget, log: Logger): ErrorRequestHandler {
  // Express recognizes error handlers by their four parameters.
  // eslint-disable-next-line @typescript-eslint/no-unused-vars
  return (error: unknown, request, response, _next) => {
    const { connection, requestId, operation, caller } = response.locals.context;
    const problem = problemOf(error);
    if (problem === undefined) log.error({ err: error, requestId, operation }, 'unexpected error');
    // Otherwise, a response that has begun would look complete. Express would also print the error.
    if (response.headersSent) connection.end();
    else if (problem === undefined) sendProblem(response, UNEXPECTED);
    else if (caller === undefined) refusals.refuse(request, response, problem);
    else sendProblem(response, problem);
  };
}
