import type { RequestHandler } from 'express';
import type { RetrieveOperation } from '../contract/operations.ts';
import { contentTag, readRecord } from '../query/read.ts';
import { entityTag, namesAny, namesTag } from './etag.ts';
import { ignoredParameters } from './ignored-parameters.ts';
import { pathValue } from './path.ts';
import { NO_SUCH_RECORD } from './problem.ts';
import { parseQuery } from './query-string.ts';
import { send } from './respond.ts';
import { dataHead, storeOf } from './sources.ts';
import type { Sources } from './sources.ts';
import { queryOf } from './target.ts';
import { editionWith } from './versions.ts';

/** Answers a retrieve operation for a caller who has been let in. */
export function answerRecord(operation: RetrieveOperation, sources: Sources): RequestHandler {
  const { collection, pathParameter } = operation;
  return (request, response) => {
    const { exchange } = response.locals;
    const store = storeOf(sources, exchange);
    const { version } = editionWith(operation, request, sources.editions, exchange.now);
    exchange.ignoredParameters = ignoredParameters(parseQuery(queryOf(request.url)), []);

    const tag = entityTag(contentTag(store, collection, exchange.now), version, '', request.url);
    const head = dataHead(store);
    const headers = ['ETag', tag];
    const condition = request.headers['if-none-match'];
    if (namesTag(condition, tag)) {
      // The tag was given to this very record, so the record is there still.
      send(response, 304, head, headers);
      return;
    }
    const record = readRecord(store, collection, pathValue(request, pathParameter), exchange.now);
    if (record === undefined) throw NO_SUCH_RECORD;
    if (namesAny(condition)) {
      send(response, 304, head, headers);
      return;
    }
    exchange.rows = 1;
    send(response, 200, head, headers, record);
  };
}
