import { randomUUID } from 'node:crypto';
import { createServer as createHttpServer, type Server, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Express, Request, Response } from 'express';
import type { Logger } from 'pino';
import { REQUEST_ID_HEADER } from '../contract/headers.ts';
import type { Release } from '../contract/releases.ts';
import { resolveVersion } from './checks/version.ts';
import { expressPrototypes } from './express-prototypes.ts';
import { contextStarter } from './request-context.ts';
import type { RequestMetrics } from './request-metrics.ts';
import { type HeaderList, METHOD_NOT_ALLOWED, Problem } from './response/problem.ts';
import { NO_STORE, SECURITY_HEADERS, sendProblem } from './response/send.ts';
import { normalizeTarget } from './target.ts';

/** Time without traffic after which the server closes a connection, even with unread responses. */
const IDLE_MS = 60_000;

// RFC 9112, section 3.2.
const HOST_MISSING = new Problem(400, 'An HTTP/1.1 request must have a Host header.');
const MALFORMED = new Problem(400, 'The request is not well-formed HTTP.');
/** The problems of parser errors, by their codes. */
const BY_ERROR_CODE: Readonly<Record<string, Problem>> = {
  HPE_INVALID_URL: new Problem(400, 'The target must be ASCII; percent-encode other characters as UTF-8.'),
  HPE_HEADER_OVERFLOW: new Problem(431, 'The request target and headers exceed 16 KiB in total.'),
  HPE_CHUNK_EXTENSIONS_OVERFLOW: new Problem(413, 'The request body is too large; send no body.'),
  ERR_HTTP_REQUEST_TIMEOUT: new Problem(408, 'The request did not arrive in time.'),
};

export interface ServerDependencies {
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** Every release, earliest first. */
  readonly releases: readonly Release[];
  readonly log: Logger;
  readonly metrics: RequestMetrics;
}

/** Creates the HTTP server of an app. It normalizes the request targets that the app reads. */
export function createServer(app: Express, dependencies: ServerDependencies): Server {
  const { clock, releases, log, metrics } = dependencies;
  const startContext = contextStarter(clock, releases, log, metrics);
  const refuse = (socket: Duplex, problem: Problem) => {
    refuseSocket(socket, problem, resolveVersion(undefined, releases, clock()).headers, log);
    metrics.countUnparsed(problem.status);
  };
  const server = createHttpServer({
    ...expressPrototypes(app),
    requireHostHeader: false,
    // By default Node silently drops a second Authorization or Host header. Joined, the header is malformed and
    // refused.
    joinDuplicateHeaders: true,
  });
  server.setTimeout(IDLE_MS);
  const listener = (request: Request, response: Response) => {
    request.url = normalizeTarget(request.url);
    startContext(request, response);
    if (request.headers.host === undefined && request.httpVersion === '1.1')
      sendProblem(response, HOST_MISSING);
    else app(request, response);
  };
  server.on('request', listener);
  // No operation uses a request body. The server requests none, and ignores other expectations.
  server.on('checkContinue', listener);
  server.on('checkExpectation', listener);
  server.on('connect', (_request, socket) => {
    // Node detaches its error listener from this socket.
    socket.on('error', () => socket.destroy());
    refuse(socket, METHOD_NOT_ALLOWED);
  });
  server.on('clientError', (error: ParserError, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy();
    else refuse(socket, problemOfParser(error));
  });
  return server;
}

interface ParserError extends NodeJS.ErrnoException {
  /** The bytes that the parser rejected. */
  readonly rawPacket?: Buffer;
}

/** The parser reports unknown methods like malformed input. A well-formed request line distinguishes them. */
const REQUEST_LINE = /^[!#$%&'*+.^_`|~\w-]+ \S+ HTTP\/1\.[01]\r?\n/;

function problemOfParser({ code = '', rawPacket }: ParserError): Problem {
  const isRequest = code === 'HPE_INVALID_METHOD' && REQUEST_LINE.test(rawPacket?.toString('latin1') ?? '');
  return isRequest ? METHOD_NOT_ALLOWED : (BY_ERROR_CODE[code] ?? MALFORMED);
}

/** Sends a problem on a socket whose request was rejected by the parser. */
function refuseSocket(
  socket: Duplex,
  { status, headers, body }: Problem,
  versionHeaders: HeaderList,
  log: Logger,
): void {
  const requestId = randomUUID();
  // The path may be unknown, so the response carries the headers of the API.
  const all = [
    ...SECURITY_HEADERS,
    ...NO_STORE,
    REQUEST_ID_HEADER,
    requestId,
    'Content-Type',
    'application/json',
    'Content-Length',
    String(body.length),
    'Connection',
    'close',
    ...headers,
    ...versionHeaders,
  ];
  const lines = all.map((text, i) => (i % 2 === 0 ? `${text}: ` : `${text}\r\n`));
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n`;
  socket.end(Buffer.concat([Buffer.from(head), body]));
  log.info({ requestId, status, bytes: body.length }, 'request');
}
