import type { Request, Response } from 'express';
import { cutsOffers, PIN_NAME } from '../../contract/operations.ts';
import type { ListOperation } from '../../contract/operations.ts';
import { planList } from '../../query/plan.ts';
import { contentTag, readPage } from '../../query/read.ts';
import type { OrganizationStore } from '../../store/organization-store.ts';
import type { ServedStores } from '../../store/served-stores.ts';
import { storeOf } from '../checks/availability.ts';
import { ignoredParameters, parseQuery } from '../checks/query-string.ts';
import { queryReader } from '../checks/query.ts';
import { entityTag, namesAny, namesTag } from '../response/etag.ts';
import { nextPageLink, originOf } from '../response/links.ts';
import type { OriginOptions } from '../response/links.ts';
import { NO_SUCH_RECORD } from '../response/problem.ts';
import { dataHeaders, send } from '../response/send.ts';
import { pathParameter, pathWith, queryOf } from '../target.ts';

/**
 * Answers a list operation. A request that names the tag of its response gets 304 before the query is validated: a tag is given to valid queries
 * alone, and content, version, origin and target are all that it is made of.
 */
export function answerList(
  operation: ListOperation,
  stores: ServedStores,
  originOptions: OriginOptions,
): (live: OrganizationStore, request: Request, response: Response) => void {
  const { collection, parameters, parent } = operation;
  const readQuery = queryReader(operation);
  const cutting = parameters.filter(({ role }) => cutsOffers(role)).map(({ name }) => name);

  return (live, request, response) => {
    const { context } = response.locals;
    const { now } = context;
    const query = parseQuery(queryOf(request.url));
    context.ignoredParameters = ignoredParameters(query, parameters);
    const pin = query.get(PIN_NAME)?.at(0);
    const store = pin === undefined ? live : storeOf(stores, live.organizationId, pin);
    const isPartialView = cutting.some((name) => query.has(name));
    const origin = originOf(request, originOptions);
    const tag = entityTag(contentTag(store, collection, now), context.version?.version, origin, request.url);
    const condition = request.headers['if-none-match'];
    if (namesTag(condition, tag)) {
      // The client has the link to the next page.
      stores.noteWalk(store);
      send(response, 304, dataHeaders(store, tag, isPartialView));
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
    if (hasMore) stores.noteWalk(store);
    if (namesAny(condition)) {
      send(response, 304, dataHeaders(store, tag, isPartialView));
      return;
    }
    const address = origin + pathWith(operation, parentId);
    // A link needs no escaping: characters that an address cannot hold are percent-encoded.
    const nextPage = hasMore ? `"${nextPageLink(address, operation, query, plan, store.digest)}"` : null;
    context.rows = Math.min(perPage, found.totalRecords - (page - 1) * perPage);
    send(response, 200, dataHeaders(store, tag, isPartialView), [
      '{"items":[',
      ...found.segments,
      `],"page":${page},"perPage":${perPage},"totalPages":${totalPages},"hasMore":${hasMore},"nextPage":${nextPage}}`,
    ]);
  };
}
