import type { NextFunction, Request, Response } from 'express';
import { JSON_TYPE, NDJSON_TYPE } from '../../contract/headers.ts';
import { cutsOffers, type ListOperation, CONTENT_DIGEST_PARAMETER } from '../../contract/operations.ts';
import { planList } from '../../query/plan.ts';
import { contentTag, readPage } from '../../query/read-page.ts';
import type { AnyStore } from '../../store/organization-store.ts';
import type { PartStores, StoresOfCaller } from '../checks/availability.ts';
import type { Pins } from '../checks/pin.ts';
import { ignoredParameters, parseQuery, queryReader } from '../checks/query.ts';
import { entityTag, matchedTag, matchesAnyTag } from '../response/etag.ts';
import { linkHeader, nextPageLink, originOf, type OriginOptions } from '../response/links.ts';
import { NO_SUCH_RECORD } from '../response/problem.ts';
import { dataHeaders, send } from '../response/send.ts';
import { pathParameter, pathWith, queryOf } from '../target.ts';
import { type StreamOptions, streamHandler, streamQueryReader } from './stream.ts';

/** The media types of lists, the default first. */
const MEDIA_TYPES = [JSON_TYPE, NDJSON_TYPE];

/** Shared by the handlers of all lists. */
export interface ListOptions extends StreamOptions {
  readonly originOptions: OriginOptions;
}

/**
 * Creates the handler of a list operation. A matching `If-None-Match` gets 304 before the query is validated, since
 * only responses to valid queries have a tag. The tag covers content, version, origin and target. A client that
 * prefers NDJSON gets all records as a stream.
 *
 * Each response that has a link to a further page, or that may follow a link, extends the retention of its store.
 */
export function listHandler(
  operation: ListOperation,
  options: ListOptions,
): (caller: StoresOfCaller, request: Request, response: Response, next: NextFunction) => void {
  const { collection, parameters, parent } = operation;
  const part = collection === 'deletions' ? 'deletions' : 'content';
  const { originOptions, compression } = options;
  // With its type, so that a call of `refuse` narrows the store.
  const pins: Pins = options.pins;
  const readPageQuery = queryReader(operation);
  const readStreamQuery = streamQueryReader(operation);
  const handleStream = streamHandler(operation, options);
  const cutting = parameters.filter(({ role }) => cutsOffers(role)).map(({ name }) => name);

  return (caller, request, response, next) => {
    const stores: PartStores<AnyStore> = caller[part];
    const { context } = response.locals;
    const { now } = context;
    const query = parseQuery(queryOf(request.url));
    context.ignoredParameters = ignoredParameters(query, parameters);
    const pin = query.get(CONTENT_DIGEST_PARAMETER)?.at(0);
    const store = pin === undefined ? stores.live : stores.withContent(pin);
    const isStream = prefersStream(request);
    const readQuery = isStream ? readStreamQuery : readPageQuery;
    if (store === undefined) pins.refuse(context, stores.live.organizationId, query, readQuery);
    if (store !== stores.live) context.pin = 'retained';
    const isPartialView = cutting.some((name) => query.has(name));
    if (isStream) {
      handleStream({ store, query, readQuery, isPartialView }, request, response, next);
      return;
    }
    const origin = originOf(request, originOptions);
    const tag = entityTag(contentTag(store, collection, now), context.version?.name, origin, request.url);
    const condition = request.headers['if-none-match'];
    const matched = matchedTag(condition, tag);
    if (matched !== undefined) {
      // The client may follow the link that it has cached.
      pins.noteUse(store);
      send(response, 304, dataHeaders(store, matched, isPartialView));
      return;
    }

    const plan = planList(operation, readQuery(query));
    const parentId = parent && pathParameter(request, parent);
    const found = readPage(store, plan, parentId, now);
    if (found === undefined) throw NO_SUCH_RECORD;
    const { page, perPage } = plan;
    const totalPages = Math.ceil(found.totalRecords / perPage);
    if (page > 1 && page > totalPages) {
      send(response, 204, dataHeaders(store, undefined, isPartialView));
      return;
    }
    const hasMore = page < totalPages;
    if (hasMore || pin !== undefined) pins.noteUse(store);
    const address = origin + pathWith(operation, parentId);
    // The link needs no JSON escapes: its host is valid, and the rest is percent-encoded.
    const nextPage = hasMore ? nextPageLink(address, operation, query, plan, store.contentDigest) : undefined;
    const quoted = nextPage === undefined ? null : `"${nextPage}"`;
    const body = [
      '{"items":[',
      ...found.segments,
      `],"page":${page},"perPage":${perPage},"totalPages":${totalPages},"hasMore":${hasMore},"nextPage":${quoted}}`,
    ];
    if (matchesAnyTag(condition)) {
      send(response, 304, dataHeaders(store, compression.tagFor(request, tag, body), isPartialView));
      return;
    }
    context.rows = Math.min(perPage, found.totalRecords - (page - 1) * perPage);
    const headers = dataHeaders(store, undefined, isPartialView);
    compression.send(response, [...headers, ...linkHeader(nextPage)], tag, body);
  };
}

/** Returns whether a client prefers NDJSON to JSON. JSON is the default, also when the client accepts neither. */
function prefersStream(request: Request): boolean {
  const { accept } = request.headers;
  // Most clients send one of these, which Express would parse each time.
  if (accept === undefined || accept === '*/*' || accept === JSON_TYPE) return false;
  return request.accepts(MEDIA_TYPES) === NDJSON_TYPE;
}
