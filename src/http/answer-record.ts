import type { RetrieveOperation } from '../contract/operations.ts';
import { contentTag, readRecord } from '../query/read.ts';
import { entityTag, namesAny, namesTag } from './etag.ts';
import { ignoredParameters } from './ignored-parameters.ts';
import { pathParameter } from './path.ts';
import { NO_SUCH_RECORD } from './problem.ts';
import { parseQuery } from './query-string.ts';
import { send } from './respond.ts';
import { dataHeaders, storeOf } from './sources.ts';
import type { Answer, Sources } from './sources.ts';
import { queryOf } from './target.ts';
import { editionWith } from './versions.ts';

/** Answers a retrieve operation for a caller who has been let in. */
export function answerRecord(operation: RetrieveOperation, sources: Sources): Answer {
  const { collection } = operation;
  return (request, response) => {
    const { exchange } = response.locals;
    const store = storeOf(sources, exchange);
    const { version } = editionWith(operation, request, sources.editions, exchange.now);
    exchange.ignoredParameters = ignoredParameters(parseQuery(queryOf(request.url)), []);

    const tag = entityTag(contentTag(store, collection, exchange.now), version, '', request.url);
    const headers = [...dataHeaders(store), 'ETag', tag];
    const condition = request.headers['if-none-match'];
    if (namesTag(condition, tag)) {
      // The tag was given to this very record, so the record is there still.
      send(response, 304, headers);
      return;
    }
    const record = readRecord(
      store,
      collection,
      pathParameter(request, operation.pathParameter),
      exchange.now,
    );
    if (record === undefined) throw NO_SUCH_RECORD;
    if (namesAny(condition)) {
      send(response, 304, headers);
      return;
    }
    exchange.rows = 1;
    send(response, 200, headers, record);
  };
}
