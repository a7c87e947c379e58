import type { Request, Response } from 'express';
import type { ListOperation } from '../contract/operations.ts';
import type { Version } from '../contract/releases.ts';
import { contentTag, readPage } from '../query/read.ts';
import type { OrganizationStore } from '../store/organization-store.ts';
import { pageBody } from './envelope.ts';
import { entityTag, namesAny, namesTag } from './etag.ts';
import { nextPageLink } from './next-page.ts';
import { originOf } from './origin.ts';
import { pathWith } from './path.ts';
import { headerLine, joinHeads } from './prepared-head.ts';
import type { PreparedHead } from './prepared-head.ts';
import type { Body } from './prepared-response.ts';
import { NO_SUCH_RECORD } from './problem.ts';
import { queryReader } from './read-query.ts';
import type { RecentAnswers, Rememberable } from './recent-answers.ts';
import { send } from './respond.ts';
import { dataHead, storeOf } from './sources.ts';
import type { Answer, Sources } from './sources.ts';
import { queryOf } from './target.ts';
import { editionWith } from './versions.ts';

/** The answer of a list operation to a target. */
export interface ListAnswer extends Rememberable {
  /** What beside the target decides it, and is what its tag is made of: tag of the content, and the two below. */
  readonly content: string;
  readonly version: Version;
  readonly origin: string;
  /** As the header tells them. */
  readonly ignoredParameters: string | undefined;
  /** The tag is part of it. */
  readonly head: PreparedHead;
  readonly tag: string;
  /** Number of records. */
  readonly rows: number;
  readonly hasMore: boolean;
  readonly body: Body;
}

/** Characters of a target. */
const LONGEST_REMEMBERED = 500;
/** What an answer takes beside its texts and slices, and what a slice takes. */
const ANSWER_BYTES = 700;
const SLICE_BYTES = 64;

/** Answers a list operation for a caller who has been let in. An answer that was given lately is not made anew. */
export function answerList(
  operation: ListOperation,
  sources: Sources,
  recent: RecentAnswers<ListAnswer>,
): Answer {
  const { collection, parent } = operation;
  const readQuery = queryReader(operation);
  return (request, response, parameter) => {
    const { exchange } = response.locals;
    const { url } = request;
    const live = storeOf(sources, exchange);
    const { version } = editionWith(operation, request, sources.editions, exchange.now);
    const origin = originOf(request, sources.origin);
    const known = recent.get(live, url);
    if (
      known?.version === version &&
      known.origin === origin &&
      known.content === contentTag(live, collection, exchange.now)
    ) {
      exchange.ignoredParameters = known.ignoredParameters;
      tell(known, live, request, response);
      return;
    }

    const { values, plan } = readQuery(queryOf(url), exchange);
    const { ignoredParameters } = exchange;
    const store = plan.pin === undefined ? live : storeOf(sources, exchange, plan.pin);
    const content = contentTag(store, collection, exchange.now);
    const tag = entityTag(content, version, origin, url);
    const untaggedHead = dataHead(store, plan.isPartialView);
    const head = joinHeads(untaggedHead, headerLine('ETag', tag));
    if (namesTag(request.headers['if-none-match'], tag)) {
      // The tag was given to this very page, so the page is there still.
      send(response, 304, head);
      return;
    }
    const page = readPage(store, plan, parent && parameter, exchange.now);
    if (page === undefined) throw NO_SUCH_RECORD;
    const totalPages = Math.ceil(page.totalRecords / plan.perPage);
    if (plan.page > 1 && plan.page > totalPages) {
      send(response, 204, untaggedHead);
      return;
    }
    const hasMore = plan.page < totalPages;
    const nextPage = hasMore
      ? nextPageLink(origin + pathWith(operation, parameter), values, plan, store.digest)
      : null;
    const rows = Math.min(plan.perPage, page.totalRecords - (plan.page - 1) * plan.perPage);
    const body = pageBody(page, plan, totalPages, nextPage);
    const size = sizeOf(url, body) + (ignoredParameters?.length ?? 0);
    const answer = { content, version, origin, ignoredParameters, head, tag, rows, hasMore, body, size };
    // Where a pin leads depends on what is there beside the live store; and what is not to be stored is not kept.
    const isLasting = (plan.pin === undefined || plan.pin === live.digest) && !plan.isPartialView;
    if (isLasting && url.length <= LONGEST_REMEMBERED) recent.set(live, url, answer);
    tell(answer, store, request, response);
  };

  function tell(answer: ListAnswer, store: OrganizationStore, request: Request, response: Response): void {
    const { head, tag, body, rows, hasMore } = answer;
    const condition = request.headers['if-none-match'];
    if (namesTag(condition, tag) || namesAny(condition)) {
      send(response, 304, head);
      return;
    }
    if (hasMore) sources.stores.noteWalk(store);
    response.locals.exchange.rows = rows;
    send(response, 200, head, body);
  }
}

/** Bytes that an answer takes, about. */
function sizeOf(target: string, body: Body): number {
  let size = ANSWER_BYTES + target.length;
  for (const piece of body) size += typeof piece === 'string' ? piece.length : SLICE_BYTES;
  return size;
}
