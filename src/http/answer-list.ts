import { cutsOffers, PIN_NAME } from '../contract/operations.ts';
import type { ListOperation } from '../contract/operations.ts';
import { planList } from '../query/plan.ts';
import { contentTag, readPage } from '../query/read.ts';
import { queryReader } from './checks/query.ts';
import { pageBody } from './envelope.ts';
import { entityTag, namesAny, namesTag } from './etag.ts';
import { ignoredParameters } from './ignored-parameters.ts';
import { nextPageLink } from './next-page.ts';
import { originOf } from './origin.ts';
import { pathParameter, pathWith } from './path.ts';
import { NO_SUCH_RECORD } from './problem.ts';
import { parseQuery } from './query-string.ts';
import { send } from './respond.ts';
import { dataHeaders, storeOf } from './sources.ts';
import type { Answer, Sources } from './sources.ts';
import { queryOf } from './target.ts';
import { editionWith } from './versions.ts';

/**
 * Answers a list operation for an authenticated caller. A request that names the tag of its response gets 304 before the query is
 * validated: a tag is given to valid queries alone, and content, version, origin and target are all that it is made of.
 */
export function answerList(operation: ListOperation, sources: Sources): Answer {
  const { collection, parameters, parent } = operation;
  const read = queryReader(operation);
  const cutting = parameters.filter(({ role }) => cutsOffers(role)).map(({ name }) => name);
  return (request, response) => {
    const { exchange } = response.locals;
    const { url } = request;
    const live = storeOf(sources, exchange);
    const { version } = editionWith(operation, request, sources.editions, exchange.now);
    const query = parseQuery(queryOf(url));
    exchange.ignoredParameters = ignoredParameters(query, parameters);
    const pin = query.get(PIN_NAME)?.at(0);
    const store = pin === undefined ? live : storeOf(sources, exchange, pin);
    const untagged = dataHeaders(
      store,
      cutting.some((name) => query.has(name)),
    );
    const origin = originOf(request, sources.origin);
    const tag = entityTag(contentTag(store, collection, exchange.now), version, origin, url);
    const headers = [...untagged, 'ETag', tag];
    const condition = request.headers['if-none-match'];
    if (namesTag(condition, tag)) {
      send(response, 304, headers);
      return;
    }

    const plan = planList(operation, read(query));
    const parentId = parent && pathParameter(request, parent);
    const page = readPage(store, plan, parentId, exchange.now);
    if (page === undefined) throw NO_SUCH_RECORD;
    const totalPages = Math.ceil(page.totalRecords / plan.perPage);
    if (plan.page > 1 && plan.page > totalPages) {
      send(response, 204, untagged);
      return;
    }
    if (namesAny(condition)) {
      send(response, 304, headers);
      return;
    }
    const hasMore = plan.page < totalPages;
    if (hasMore) sources.stores.noteWalk(store);
    const nextPage = hasMore
      ? nextPageLink(origin + pathWith(operation, parentId), operation, query, plan, store.digest)
      : null;
    exchange.rows = Math.min(plan.perPage, page.totalRecords - (plan.page - 1) * plan.perPage);
    send(response, 200, headers, pageBody(page, plan, totalPages, nextPage));
  };
}
