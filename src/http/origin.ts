import { isIPv6 } from 'node:net';
import type { Request } from 'express';

/**
 * Scheme and authority that links begin with: the configured base, else what the request was addressed to.
 * Express's `trust proxy` decides whether X-Forwarded-Host and -Proto are believed. A host that is not
 * syntactically one, or none, is replaced by the address of the socket.
 */
export function originOf(request: Request, publicBaseUrl: string | undefined): string {
  if (publicBaseUrl !== undefined) return publicBaseUrl;
  const scheme = request.protocol.toLowerCase() === 'https' ? 'https' : 'http';
  const { host } = request;
  return `${scheme}://${isHost(host) ? host : localAddress(request)}`;
}

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
