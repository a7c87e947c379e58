import type { Request, Response } from 'express';
import type { RetrieveOperation } from '../../contract/operations.ts';
import { contentTag, readRecord } from '../../query/read-page.ts';
import type { StoresOfCaller } from '../checks/availability.ts';
import { ignoredParameters, parseQuery } from '../checks/query.ts';
import type { Compression } from '../response/compression.ts';
import { entityTag, matchedTag, matchesAnyTag } from '../response/etag.ts';
import { NO_SUCH_RECORD } from '../response/problem.ts';
import { dataHeaders, send } from '../response/send.ts';
import { pathParameter, queryOf } from '../target.ts';

/** Creates the handler of a retrieve operation. A matching `If-None-Match` gets 304 before the record is looked up. */
export function recordHandler(
  operation: RetrieveOperation,
  compression: Compression,
): (stores: StoresOfCaller, request: Request, response: Response) => void {
  const { collection } = operation;
  return ({ content: { live: store } }, request, response) => {
    const { context } = response.locals;
    const { now } = context;
    context.ignoredParameters = ignoredParameters(parseQuery(queryOf(request.url)), []);
    const tag = entityTag(contentTag(store, collection, now), context.version?.name, '', request.url);
    const condition = request.headers['if-none-match'];
    const matched = matchedTag(condition, tag);
    if (matched !== undefined) {
      send(response, 304, dataHeaders(store, matched));
      return;
    }
    const record = readRecord(store, collection, pathParameter(request, operation.pathParameter), now);
    if (record === undefined) throw NO_SUCH_RECORD;
    if (matchesAnyTag(condition)) {
      send(response, 304, dataHeaders(store, compression.tagFor(request, tag, record)));
      return;
    }
    context.rows = 1;
    compression.send(response, dataHeaders(store, undefined), tag, record);
  };
}
