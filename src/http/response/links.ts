import { isIPv6 } from 'node:net';
import type { Request } from 'express';
import { type ListOperation, CONTENT_DIGEST_PARAMETER } from '../../contract/operations.ts';
import type { Plan } from '../../query/plan.ts';
import type { Query } from '../checks/query.ts';

/** What links begin with. */
export interface OriginOptions {
  /** Instead of what the request was addressed to. */
  readonly publicBaseUrl: string | undefined;
  /** Whether there is anybody whose X-Forwarded-Host and -Proto are believed; Express's `trust proxy` says who. */
  readonly trustsProxies: boolean;
}

/**
 * Scheme and authority that links begin with: the configured base, else what the request was addressed to. A host that
 * is not syntactically one, or none, is replaced by the address of the socket.
 */
export function originOf(request: Request, { publicBaseUrl, trustsProxies }: OriginOptions): string {
  if (publicBaseUrl !== undefined) return publicBaseUrl;
  // Express would see to it that nobody is trusted, which takes ten times as long.
  const { protocol, host } = trustsProxies ? request : { protocol: 'http', host: request.headers.host };
  const scheme = protocol.toLowerCase() === 'https' ? 'https' : 'http';
  if (host !== lastHost && !isHost(host)) return `${scheme}://${localAddress(request)}`;
  lastHost = host;
  return `${scheme}://${host}`;
}

/** The host that was named last: nearly all requests name the same one. */
let lastHost = 'localhost';

/** Whether a text is a host with or without a port: a name, an IPv4 address or a bracketed IPv6 address. */
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

/** Parameters that the link names itself. */
const OWN: readonly string[] = ['page', 'perPage', CONTENT_DIGEST_PARAMETER];

/**
 * Makes the link to the page after that of a plan: every parameter that the operation has and the query gave, then `page`, `perPage`
 * and the content digest.
 *
 * @param address origin and path of the list
 * @param query a valid one
 * @param contentDigest of the store that the pages are read from
 */
export function nextPageLink(
  address: string,
  { parameters }: ListOperation,
  query: Query,
  { page, perPage }: Plan,
  contentDigest: string,
): string {
  let kept = '';
  for (const [name, [value]] of query) {
    if (OWN.includes(name) || !parameters.some((parameter) => parameter.name === name)) continue;
    kept += `${name}=${encodeURIComponent(value)}&`;
  }
  return `${address}?${kept}page=${page + 1}&perPage=${perPage}&${CONTENT_DIGEST_PARAMETER}=${contentDigest}`;
}
