import type { ListOperation } from '../contract/operations.ts';
import { contentTag, readPage } from '../query/read.ts';
import { pageBody } from './envelope.ts';
import { entityTag, namesAny, namesTag } from './etag.ts';
import { nextPageLink } from './next-page.ts';
import { originOf } from './origin.ts';
import { pathWith } from './path.ts';
import { headerLine, joinHeads } from './prepared-head.ts';
import { NO_SUCH_RECORD } from './problem.ts';
import { queryReader } from './read-query.ts';
import { send } from './respond.ts';
import { dataHead, storeOf } from './sources.ts';
import type { Answer, Sources } from './sources.ts';
import { queryOf } from './target.ts';
import { editionWith } from './versions.ts';

/** Answers a list operation for a caller who has been let in. */
export function answerList(operation: ListOperation, sources: Sources): Answer {
  const { collection, parent } = operation;
  const readQuery = queryReader(operation);
  return (request, response, parameter) => {
    const { exchange } = response.locals;
    const live = storeOf(sources, exchange);
    const { version } = editionWith(operation, request, sources.editions, exchange.now);
    const { values, plan } = readQuery(queryOf(request.url), exchange);
    const store = plan.pin === undefined ? live : storeOf(sources, exchange, plan.pin);

    const origin = originOf(request, sources.origin);
    const tag = entityTag(contentTag(store, collection, exchange.now), version, origin, request.url);
    const head = dataHead(store, plan.isPartialView);
    const taggedHead = joinHeads(head, headerLine('ETag', tag));
    const condition = request.headers['if-none-match'];
    if (namesTag(condition, tag)) {
      // The tag was given to this very page, so the page is there still.
      send(response, 304, taggedHead);
      return;
    }
    const parentId = parent && parameter;
    const page = readPage(store, plan, parentId, exchange.now);
    if (page === undefined) throw NO_SUCH_RECORD;
    const totalPages = Math.ceil(page.totalRecords / plan.perPage);
    if (plan.page > 1 && plan.page > totalPages) {
      send(response, 204, head);
      return;
    }
    if (namesAny(condition)) {
      send(response, 304, taggedHead);
      return;
    }
    const hasMore = plan.page < totalPages;
    let nextPage: string | null = null;
    if (hasMore) {
      nextPage = nextPageLink(origin + pathWith(operation, parameter), values, plan, store.digest);
      sources.stores.noteWalk(store);
    }
    exchange.rows = Math.min(plan.perPage, page.totalRecords - (plan.page - 1) * plan.perPage);
    send(response, 200, taggedHead, pageBody(page, plan, totalPages, nextPage));
  };
}
