import type { Request } from 'express';
import { JSON_TYPE, MAX_ACCEPT_LENGTH, MAX_LINK_LENGTH, NDJSON_TYPE } from '../../contract/headers.ts';
import {
  CONTENT_DIGEST_PARAMETER,
  type ListOperation,
  pathWith,
  type RetrieveOperation,
} from '../../contract/operations.ts';
import { joinList, type ParameterKind } from '../../contract/parameter.ts';
import { type Plan, planList } from '../../query/plan.ts';
import { readLines } from '../../query/read-lines.ts';
import { contentTag, readPage, readRecord, selectRecords } from '../../query/read-page.ts';
import { totalOf } from '../../query/select.ts';
import type { ListImage, SectionImage } from '../../store/organization-image.ts';
import { type Query, queryReader, type QueryReader } from '../checks/query.ts';
import { pathParameter } from '../request-context.ts';
import { type HeaderList, HTTP_1_1_NEEDED } from '../response/problem.ts';
import type { Body } from '../response/send.ts';

/** A request of data that has passed the checks of its key and version. */
interface ReadRequest {
  readonly request: Request;
  readonly query: Query;
  readonly list: ListImage;
  readonly origin: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** The data of a response, and the number of its records. */
export type Found =
  | { readonly is: 'body'; readonly rows: number; readonly body: Body; readonly nextPage: string | undefined }
  | {
      readonly is: 'parts';
      readonly rows: number;
      readonly parts: Parts;
      readonly nextPage: string | undefined;
    }
  | ({ readonly is: 'lines' } & FoundLines)
  | { readonly is: 'beyond the last page' };

/** The pieces of a body, some at a time, that are made when they are taken. */
type Parts = Generator<Body, void>;

/** `read` returns chunks of lines. A chunk may reuse the buffer of the previous one if `isSent` returns true. */
export interface FoundLines {
  readonly rows: number;
  readonly images: readonly SectionImage[];
  readonly read: (isSent: () => boolean) => Iterable<Buffer>;
}

/** Reads the data of an operation in one form: a page of a list, all of its records as lines, or one record. */
interface Reader {
  /** Whether responses contain links, on which their tags then depend. */
  readonly hasLinks: boolean;
  /** Returns a tag that identifies the data in this form. */
  readonly contentTag: (list: ListImage, now: number) => string;
  readonly readQuery: QueryReader;
  /**
   * Returns undefined when the record, or the parent of the list, does not exist.
   * @throws Problem 400 with all violations of the query
   */
  readonly read: (request: ReadRequest) => Found | undefined;
}

const MEDIA_TYPES = [JSON_TYPE, NDJSON_TYPE];

/** Returns the function that selects the form of a response. JSON is the default, also when the client accepts neither. */
export function readersOf(operation: ListOperation | RetrieveOperation): (request: Request) => Reader {
  if (operation.kind === 'retrieve') {
    const record = recordReader(operation);
    return () => record;
  }
  const [page, lines] = [pageReader(operation), linesReader(operation)];
  return (request) => {
    const { accept = '' } = request.headers;
    // Most clients send one of these, which Express would parse each time.
    if (['', '*/*', JSON_TYPE].includes(accept) || accept.length > MAX_ACCEPT_LENGTH) return page;
    if (request.accepts(MEDIA_TYPES) !== NDJSON_TYPE) return page;
    if (request.httpVersion === '1.0') throw HTTP_1_1_NEEDED;
    return lines;
  };
}

function recordReader({ collection, pathParameter: parameter }: RetrieveOperation): Reader {
  const readQuery = queryReader([]);
  return {
    hasLinks: false,
    contentTag: (list, now) => contentTag(list, collection, now),
    readQuery,
    read: ({ request, query, list, now }) => {
      readQuery(query);
      const body = readRecord(list, collection, pathParameter(request, parameter), now);
      return body && { is: 'body', rows: 1, body, nextPage: undefined };
    },
  };
}

const START = '{"items":[';

function pageReader(operation: ListOperation): Reader {
  const { collection, pathParameter: parent } = operation;
  const readQuery = queryReader(operation.parameters);
  return {
    hasLinks: true,
    contentTag: (list, now) => contentTag(list, collection, now),
    readQuery,
    read: ({ request, query, list, origin, now }) => {
      const plan = planList(operation, readQuery(query));
      const parentId = parent && pathParameter(request, parent);
      const found = readPage(list, plan, parentId, now);
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
      if (Array.isArray(segments)) return { is: 'body', rows, body: [START, ...segments, end], nextPage };
      return { is: 'parts', rows, parts: partsOf(segments, end, request.method === 'HEAD'), nextPage };
    },
  };
}

/** Yields the pieces of a page, for HEAD only blanks of their length. */
function* partsOf(records: Iterable<readonly Buffer[]>, end: string, isHead: boolean): Parts {
  yield [START];
  for (const pieces of records) yield isHead ? pieces.map(({ length }) => ' '.repeat(length)) : pieces;
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

function linesReader(operation: ListOperation): Reader {
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
    read: ({ request, query, list, now }) => {
      const plan = planList(operation, readQuery(query));
      const selection = selectRecords(list, plan, parent && pathParameter(request, parent));
      if (selection === undefined) return undefined;
      const read = (isSent: () => boolean) => readLines(list, plan, selection, now, isSent);
      return { is: 'lines', rows: totalOf(selection), images: [list], read };
    },
  };
}
