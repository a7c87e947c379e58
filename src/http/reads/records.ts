import type { Request } from 'express';
import {
  JSON_TYPE,
  MAX_ACCEPT_LENGTH,
  MAX_LINK_LENGTH,
  NDJSON_TYPE,
  RECORD_COUNT_HEADER,
} from '../../contract/headers.ts';
import {
  CONTENT_DIGEST_PARAMETER,
  cutsOffers,
  type ListOperation,
  pathWith,
  type RetrieveOperation,
} from '../../contract/operations.ts';
import { joinList, type ParameterKind } from '../../contract/parameter.ts';
import { type Plan, planList } from '../../query/plan.ts';
import { readLines } from '../../query/read-lines.ts';
import { contentTag, readPage, readRecord, selectRecords } from '../../query/read-page.ts';
import { totalOf } from '../../query/select.ts';
import { type ListImage, listOf } from '../../store/organization-image.ts';
import { findList } from '../../store/registry/store-view.ts';
import type { Pins } from '../checks/pin.ts';
import { type Query, queryReader, type QueryReader } from '../checks/query.ts';
import { type originReader, pathParameter } from '../request-context.ts';
import { entityTag, matchedTag } from '../response/etag.ts';
import { type HeaderList, HTTP_1_1_NEEDED, NO_SUCH_RECORD } from '../response/problem.ts';
import { type Body, dataHeaders } from '../response/send.ts';
import type { Content, Reader, ReadRequest } from './reader.ts';

/** The form of a response: a page of a list, all of its records as lines, or one record. */
interface Form {
  /** Whether responses contain links, on which their tags then depend. */
  readonly hasLinks: boolean;
  /** Returns a tag that identifies the data in this form. */
  readonly contentTag: (list: ListImage, now: number) => string;
  readonly readQuery: QueryReader;
  /** Returns undefined when the record, or the parent of the list, does not exist. */
  readonly read: (list: ListImage, origin: string, read: ReadRequest) => Content | undefined;
}

/** Creates the reader of a list or a record, live or of the content that a link pins. */
export function recordsReader(
  operation: ListOperation | RetrieveOperation,
  pins: Pins,
  originOf: ReturnType<typeof originReader>,
): Reader {
  const formOf = formsOf(operation);
  const list = listOf(operation.collection);
  const cutting =
    operation.kind === 'list' ? operation.parameters.filter(({ role }) => cutsOffers(role)) : [];
  return (read) => {
    const { request, context, caller, store, query } = read;
    const form = formOf(request);
    const pin = query.values.get(CONTENT_DIGEST_PARAMETER)?.at(0);
    const section = findList(store, list, pin);
    if (section === undefined) throw pins.refusal(context, caller, list, query, form.readQuery);
    const { image } = section;
    if (image !== store.lists[list]) context.pin = 'retained';

    const isPartialView = cutting.some(({ name }) => query.values.has(name));
    const headers = dataHeaders(section, isPartialView);
    const origin = form.hasLinks ? originOf(request) : '';
    const tag = entityTag(form.contentTag(image, context.now), context.version?.name, origin, request.url);
    // Before the query is validated, since only responses to valid queries have a tag.
    const known = query.violations.length > 0 ? undefined : matchedTag(request.headers['if-none-match'], tag);
    if (known !== undefined) {
      // The client may follow the link that it has cached.
      if (form.hasLinks) pins.noteUse(image);
      return { headers, content: { is: 'known', tag: known } };
    }
    const content = form.read(image, origin, read);
    if (content === undefined) throw NO_SUCH_RECORD;
    if (pin !== undefined || ('nextPage' in content && content.nextPage !== undefined)) pins.noteUse(image);
    return { headers, tag, content };
  };
}

const MEDIA_TYPES = [JSON_TYPE, NDJSON_TYPE];

/** Returns the function that selects the form of a response. JSON is the default, also when the client accepts neither. */
function formsOf(operation: ListOperation | RetrieveOperation): (request: Request) => Form {
  if (operation.kind === 'retrieve') {
    const record = recordForm(operation);
    return () => record;
  }
  const [page, lines] = [pageForm(operation), linesForm(operation)];
  return (request) => {
    const { accept = '' } = request.headers;
    // Most clients send one of these, which Express would parse each time.
    if (['', '*/*', JSON_TYPE].includes(accept) || accept.length > MAX_ACCEPT_LENGTH) return page;
    if (request.accepts(MEDIA_TYPES) !== NDJSON_TYPE) return page;
    if (request.httpVersion === '1.0') throw HTTP_1_1_NEEDED;
    return lines;
  };
}

function recordForm({ collection, pathParameter: parameter }: RetrieveOperation): Form {
  const readQuery = queryReader([]);
  return {
    hasLinks: false,
    contentTag: (list, now) => contentTag(list, collection, now),
    readQuery,
    read: (list, _origin, { request, context, query }) => {
      readQuery(query);
      const body = readRecord(list, collection, pathParameter(request, parameter), context.now);
      return body && { is: 'body', rows: 1, body };
    },
  };
}

const START = '{"items":[';

function pageForm(operation: ListOperation): Form {
  const { collection, pathParameter: parent } = operation;
  const readQuery = queryReader(operation.parameters);
  return {
    hasLinks: true,
    contentTag: (list, now) => contentTag(list, collection, now),
    readQuery,
    read: (list, origin, { request, context, query }) => {
      const plan = planList(operation, readQuery(query));
      const parentId = parent && pathParameter(request, parent);
      const found = readPage(list, plan, parentId, context.now);
      if (found === undefined) return undefined;
      const { page, perPage } = plan;
      const totalPages = Math.ceil(found.totalRecords / perPage);
      if (page > 1 && page > totalPages) return { is: 'beyond the last page' };
      const hasMore = page < totalPages;
      const path = parentId === undefined ? operation.path : pathWith(operation, parentId);
      // The link needs no JSON escapes: its host is valid, and the rest is percent-encoded.
      const nextPage = hasMore ? nextPageLink(origin + path, query, plan, list.digest) : undefined;
      const quoted = nextPage === undefined ? null : `"${nextPage}"`;
      const end = `],"page":${page},"perPage":${perPage},"totalPages":${totalPages},"hasMore":${hasMore},"nextPage":${quoted}}`;
      const rows = Math.min(perPage, found.totalRecords - (page - 1) * perPage);
      const { segments } = found;
      const body = Array.isArray(segments) ? [START, ...segments, end] : partsOf(segments, end);
      return { is: 'body', rows, body, nextPage };
    },
  };
}

function* partsOf(records: Iterable<readonly Buffer[]>, end: string): Generator<Body, void> {
  yield [START];
  yield* records;
  yield [end];
}

const SET_BY_LINK: readonly string[] = ['page', 'perPage', CONTENT_DIGEST_PARAMETER];

/**
 * Returns the link to the page after that of a plan. It keeps the parameters of the query, a list as one parameter, and
 * sets `page`, `perPage` and the content digest.
 *
 * @param address origin and path of the list
 * @param query a valid query
 * @param contentDigest digest of the list that the page is read from
 */
function nextPageLink(
  address: string,
  { values }: Query,
  { page, perPage }: Plan,
  contentDigest: string,
): string {
  let kept = '';
  for (const [name, texts] of values)
    if (!SET_BY_LINK.includes(name)) kept += `${name}=${encodeURIComponent(joinList(texts))}&`;
  return `${address}?${kept}page=${page + 1}&perPage=${perPage}&${CONTENT_DIGEST_PARAMETER}=${contentDigest}`;
}

/** Returns the `Link` header (RFC 8288) for a link to the next page, which has no `>`; empty without one. */
export function linkHeader(nextPage: string | undefined): HeaderList {
  if (nextPage === undefined || nextPage.length > MAX_LINK_LENGTH) return [];
  return ['Link', `<${nextPage}>; rel="next"`];
}

/** A parameter of pages, which a stream does not have. */
const OMITTED: ParameterKind = {
  schema: { not: {} },
  read: (text) => text,
  ctx: () => `must be omitted with Accept: ${NDJSON_TYPE}, since that response has all records`,
};

function linesForm(operation: ListOperation): Form {
  const { collection, parameters, pathParameter: parent } = operation;
  const readQuery = queryReader(
    parameters.map((parameter) =>
      ['page', 'perPage'].includes(parameter.role.is) ? { ...parameter, kind: OMITTED } : parameter,
    ),
  );
  return {
    hasLinks: false,
    contentTag: (list, now) => `${contentTag(list, collection, now)}.lines`,
    readQuery,
    read: (list, _origin, { request, context, query }) => {
      const plan = planList(operation, readQuery(query));
      const selection = selectRecords(list, plan, parent && pathParameter(request, parent));
      if (selection === undefined) return undefined;
      const rows = totalOf(selection);
      return {
        is: 'lines',
        rows,
        headers: [RECORD_COUNT_HEADER, String(rows)],
        images: [list],
        read: (isSent) => readLines(list, plan, selection, context.now, isSent),
      };
    },
  };
}
