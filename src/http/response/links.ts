import { isIPv6 } from 'node:net';
import type { Request } from 'express';
import { type ListOperation, CONTENT_DIGEST_PARAMETER } from '../../contract/operations.ts';
import { joinList } from '../../contract/parameter.ts';
import type { Plan } from '../../query/plan.ts';
import type { Query } from '../checks/query.ts';
import type { HeaderList } from './problem.ts';

export interface OriginOptions {
  /** Undefined for the address of the request. */
  readonly publicBaseUrl: string | undefined;
  /** Express's `trust proxy` setting. */
  readonly trustProxy: boolean | number | readonly string[];
}

/**
 * Returns the base URL of links. It is the configured one, or the scheme and authority of the request. The address of
 * the socket replaces an absent or malformed host.
 */
export function originOf(request: Request, { publicBaseUrl, trustProxy }: OriginOptions): string {
  if (publicBaseUrl !== undefined) return publicBaseUrl;
  // Without trusted proxies, Express would return the same values, but look up its settings for each.
  const { protocol, host } =
    trustProxy === false ? { protocol: 'http', host: request.headers.host } : request;
  const scheme = protocol.toLowerCase() === 'https' ? 'https' : 'http';
  return `${scheme}://${isHost(host) ? host : localAddress(request)}`;
}

/** Returns whether a text is a valid host with an optional port. */
export function isHost(text: string | undefined): text is string {
  if (text === undefined || text.length > 261) return false;
  const parts = /^(?:[a-z0-9_](?:[a-z0-9._-]*[a-z0-9_])?\.?|\[([0-9a-f:.]+)\])(?::([0-9]{1,5}))?$/i.exec(
    text,
  );
  if (parts === null) return false;
  const bracketed = parts.at(1);
  const port = parts.at(2);
  return (bracketed === undefined || isIPv6(bracketed)) && (port === undefined || Number(port) <= 65_535);
}

function localAddress({ socket }: Request): string {
  const { localAddress: address = 'localhost', localPort: port = 80 } = socket;
  return `${isIPv6(address) ? `[${address}]` : address}:${port}`;
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
