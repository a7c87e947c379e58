import type { NextFunction, Request, Response } from 'express';
import { NDJSON_TYPE, RECORD_COUNT_HEADER } from '../../contract/headers.ts';
import type { ListOperation, Parameter } from '../../contract/operations.ts';
import type { ParameterKind } from '../../contract/parameter.ts';
import { planList } from '../../query/plan.ts';
import { readLines } from '../../query/read-lines.ts';
import { contentTag, selectRecords } from '../../query/read-page.ts';
import { totalOf } from '../../query/select.ts';
import type { AnyStore } from '../../store/organization-store.ts';
import type { StoreView } from '../../store/registry/store-view.ts';
import { type Query, type QueryReader, queryReader } from '../checks/query.ts';
import type { Pins } from '../checks/pin.ts';
import type { StreamLimit } from '../checks/stream-limit.ts';
import { codingHeaders, type Compression } from '../response/compression.ts';
import { codedTag, entityTag, matchedTag, matchesAnyTag } from '../response/etag.ts';
import { NO_SUCH_RECORD, Problem } from '../response/problem.ts';
import { dataHeaders, send } from '../response/send.ts';
import { sendStream } from '../response/stream.ts';
import { pathParameter } from '../target.ts';

/** HTTP/1.0 marks the end of such a response by closing the connection, so a truncated one would look complete. */
const HTTP_1_1_NEEDED = new Problem(
  400,
  `A response in ${NDJSON_TYPE} requires HTTP/1.1; the client or a proxy sent HTTP/1.0.`,
);

/** A parameter of pages, which a stream does not have. */
const OMITTED: ParameterKind = {
  schema: { not: {} },
  read: (text) => text,
  ctx: () => `must be omitted with Accept: ${NDJSON_TYPE}, since that response has all records`,
};

function withoutPages(parameter: Parameter): Parameter {
  const { is } = parameter.role;
  return is === 'page' || is === 'perPage' ? { ...parameter, kind: OMITTED } : parameter;
}

/** Compiles the schemas of a list operation's parameters for a stream. */
export function streamQueryReader({ parameters }: ListOperation): QueryReader {
  return queryReader({ parameters: parameters.map(withoutPages) });
}

/** A list query, and the store that answers it. */
export interface ListRequest {
  readonly store: AnyStore;
  readonly query: Query;
  /** Of `streamQueryReader`. */
  readonly readQuery: QueryReader;
  readonly isPartialView: boolean;
}

/** Shared by the streams of all lists. */
export interface StreamOptions {
  readonly limit: StreamLimit;
  readonly pins: Pins;
  readonly stores: () => StoreView;
  readonly compression: Compression;
}

/** Creates the handler of a list operation that returns all records as a stream, one per line. */
export function streamHandler(
  operation: ListOperation,
  { limit, pins, stores, compression }: StreamOptions,
): (list: ListRequest, request: Request, response: Response, next: NextFunction) => void {
  const { collection, parent } = operation;

  return ({ store, query, readQuery, isPartialView }, request, response, next) => {
    if (request.httpVersion === '1.0') throw HTTP_1_1_NEEDED;
    const { context } = response.locals;
    const { now } = context;
    const tagOfLines = `${contentTag(store, collection, now)}.lines`;
    const tag = entityTag(tagOfLines, context.version?.name, '', request.url);
    const condition = request.headers['if-none-match'];
    const matched = matchedTag(condition, tag);
    if (matched !== undefined) {
      send(response, 304, dataHeaders(store, matched, isPartialView));
      return;
    }
    const plan = planList(operation, readQuery(query));
    const selection = selectRecords(store, plan, parent && pathParameter(request, parent));
    if (selection === undefined) throw NO_SUCH_RECORD;
    const coding = compression.codingOfStream(request);
    if (matchesAnyTag(condition)) {
      const current = coding === undefined ? tag : codedTag(tag, coding);
      send(response, 304, dataHeaders(store, current, isPartialView));
      return;
    }
    const isHead = request.method === 'HEAD';
    if (!isHead) limit.open(response);
    const totalRecords = totalOf(selection);
    context.rows = totalRecords;
    const headers = [
      ...dataHeaders(store, undefined, isPartialView),
      ...codingHeaders(coding, tag),
      RECORD_COUNT_HEADER,
      String(totalRecords),
    ];
    const compressor =
      coding === undefined || isHead ? undefined : compression.compressorFor(response, coding);
    const read = (isSent: () => boolean) =>
      whileRetained(store, readLines(store, plan, selection, now, isSent), response);
    sendStream(response, headers, read, compressor).catch(next);
  };

  /** Extends the retention of a store with each chunk. Breaks off if the store is released nevertheless. */
  function* whileRetained(store: AnyStore, lines: Iterable<Buffer>, response: Response) {
    for (const chunk of lines) {
      if (!stores().holds(store)) {
        response.destroy();
        return;
      }
      pins.noteUse(store);
      yield chunk;
    }
  }
}
