import { CONTENT_DIGEST_PARAMETER, type ListOperation, pathWith } from '../../contract/operations.ts';
import { joinList } from '../../contract/parameter.ts';
import { type Plan, planList } from '../../query/plan.ts';
import { contentTag, readPage } from '../../query/read-page.ts';
import { type Query, queryReader } from '../checks/query.ts';
import { pathParameter } from '../request-context.ts';
import type { HeaderList } from '../response/problem.ts';
import type { Reader } from './reader.ts';

/** Creates the reader of a list's pages. */
export function pageReader(operation: ListOperation): Reader {
  const { collection, pathParameter: parent } = operation;
  const readQuery = queryReader(operation.parameters);
  return {
    hasLinks: true,
    contentTag: (store, now) => contentTag(store, collection, now),
    readQuery,
    read: ({ request, query, store, origin, now }) => {
      const plan = planList(operation, readQuery(query));
      const parentId = parent && pathParameter(request, parent);
      const found = readPage(store, plan, parentId, now);
      if (found === undefined) return undefined;
      const { page, perPage } = plan;
      const totalPages = Math.ceil(found.totalRecords / perPage);
      if (page > 1 && page > totalPages) return { is: 'beyond the last page' };
      const hasMore = page < totalPages;
      const path = parentId === undefined ? operation.path : pathWith(operation, parentId);
      // The link needs no JSON escapes: its host is valid, and the rest is percent-encoded.
      const nextPage = hasMore
        ? nextPageLink(origin + path, operation, query, plan, store.contentDigest)
        : undefined;
      const quoted = nextPage === undefined ? null : `"${nextPage}"`;
      const body = [
        '{"items":[',
        ...found.segments,
        `],"page":${page},"perPage":${perPage},"totalPages":${totalPages},"hasMore":${hasMore},"nextPage":${quoted}}`,
      ];
      const rows = Math.min(perPage, found.totalRecords - (page - 1) * perPage);
      return { is: 'body', rows, body, nextPage };
    },
  };
}

/** Parameters that the link sets. */
const SET_BY_LINK: readonly string[] = ['page', 'perPage', CONTENT_DIGEST_PARAMETER];

/**
 * Returns the link to the page after that of a plan. It keeps the known parameters of the query, a list as one
 * parameter, and sets `page`, `perPage` and the content digest.
 *
 * @param address origin and path of the list
 * @param query a valid query
 * @param contentDigest digest of the store that serves the page
 */
export function nextPageLink(
  address: string,
  { parameters }: ListOperation,
  query: Query,
  { page, perPage }: Plan,
  contentDigest: string,
): string {
  let kept = '';
  for (const [name, texts] of query) {
    if (SET_BY_LINK.includes(name) || !parameters.some((parameter) => parameter.name === name)) continue;
    kept += `${name}=${encodeURIComponent(joinList(texts))}&`;
  }
  return `${address}?${kept}page=${page + 1}&perPage=${perPage}&${CONTENT_DIGEST_PARAMETER}=${contentDigest}`;
}

/** Longer links are in the body alone: proxies refuse long heads, nginx by default those over 4 kB. */
export const MAX_HEADER_LINK = 2000;

/** Returns the `Link` header (RFC 8288) for a link to the next page, which has no `>`; empty without one. */
export function linkHeader(nextPage: string | undefined): HeaderList {
  if (nextPage === undefined || nextPage.length > MAX_HEADER_LINK) return [];
  return ['Link', `<${nextPage}>; rel="next"`];
}
