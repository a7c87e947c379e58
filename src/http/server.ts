import { createServer as createHttpServer, type Server, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Express, Request, Response } from 'express';
import type { Logger } from 'pino';
import { REQUEST_ID_HEADER } from '../contract/headers.ts';
import type { Release } from '../contract/releases.ts';
import { resolveVersion } from './checks/version.ts';
import { expressPrototypes } from './express-prototypes.ts';
import { METHOD_NOT_ALLOWED } from './handlers/documents.ts';
import { contextStarter, requestIdOf } from './request-context.ts';
import type { RequestMetrics } from './request-metrics.ts';
import { type HeaderList, Problem } from './response/problem.ts';
import { NO_STORE, SECURITY_HEADERS, sendProblem } from './response/send.ts';
import { normalTarget } from './target.ts';

/** A connection on which nothing moves for so long is ended, also one whose client does not read its responses. */
const STALLED_MS = 60_000;

// RFC 9112, section 3.2.
const HOST_MISSING = new Problem(400, 'A request of HTTP/1.1 needs a Host header.');
const MALFORMED = new Problem(400, 'The request is not well-formed HTTP.');
const BY_ERROR_CODE: Readonly<Record<string, Problem>> = {
  HPE_INVALID_URL: new Problem(
    400,
    'The target must be ASCII: percent-encode the UTF-8 of all other characters.',
  ),
  HPE_HEADER_OVERFLOW: new Problem(431, 'The target and the headers of the request are too large.'),
  HPE_CHUNK_EXTENSIONS_OVERFLOW: new Problem(413, 'The body of the request is too large.'),
  ERR_HTTP_REQUEST_TIMEOUT: new Problem(408, 'The request did not arrive in time.'),
};

export interface ServerDependencies {
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** Every release, earliest first. */
  readonly releases: readonly Release[];
  readonly log: Logger;
  /** Counts requests, and what never comes to be one. */
  readonly metrics: RequestMetrics;
}

/** The server in front of an app: the one way in, since it brings targets into the form that the app reads. */
export function createServer(app: Express, dependencies: ServerDependencies): Server {
  const { clock, releases, log, metrics } = dependencies;
  const startContext = contextStarter(clock, releases, log, metrics);
  const refuse = (socket: Duplex, problem: Problem) => {
    refuseSocket(socket, problem, resolveVersion(undefined, releases, clock()).headers, log);
    metrics.countRefusal(problem.status);
  };
  const server = createHttpServer({
    ...expressPrototypes(app),
    requireHostHeader: false,
    // A second Authorization or Host would be dropped without a word; joined, it makes the header malformed.
    joinDuplicateHeaders: true,
  });
  server.setTimeout(STALLED_MS);
  const listener = (request: Request, response: Response) => {
    request.url = normalTarget(request.url);
    startContext(request, response);
    if (request.headers.host === undefined && request.httpVersion === '1.1')
      sendProblem(response, HOST_MISSING);
    else app(request, response);
  };
  server.on('request', listener);
  // Bodies are of no use here, so nobody is invited to send one, and no expectation is worth a refusal.
  server.on('checkContinue', listener);
  server.on('checkExpectation', listener);
  server.on('connect', (_request, socket) => {
    // Node hands the socket over without a listener for its errors.
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
  /** What came, when it was not HTTP to the parser. */
  readonly rawPacket?: Buffer;
}

/** To the parser a method that it does not know is as little HTTP as nonsense is. */
const REQUEST_LINE = /^[!#$%&'*+.^_`|~\w-]+ \S+ HTTP\/1\.[01]\r?\n/;

function problemOfParser({ code = '', rawPacket }: ParserError): Problem {
  const isRequest = code === 'HPE_INVALID_METHOD' && REQUEST_LINE.test(rawPacket?.toString('latin1') ?? '');
  return isRequest ? METHOD_NOT_ALLOWED : (BY_ERROR_CODE[code] ?? MALFORMED);
}

/** Answers on a socket whose request never came to be one. */
function refuseSocket(
  socket: Duplex,
  { status, headers, body }: Problem,
  versionHeaders: HeaderList,
  log: Logger,
): void {
  const requestId = requestIdOf(undefined);
  // The path may not be known: it is taken for one of the API.
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
