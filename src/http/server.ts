import { randomUUID } from 'node:crypto';
import {
  createServer as createHttpServer,
  IncomingMessage,
  METHODS,
  ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { Socket } from 'node:net';
import type { Express, Request, Response } from 'express';
import { REQUEST_ID_HEADER } from '../contract/headers.ts';
import { selectVersion } from '../contract/releases.ts';
import type { Api, Dependencies } from './app.ts';
import { versionHeaders } from './checks/version.ts';
import type { Connection } from './connections/connection.ts';
import { Connections } from './connections/connections.ts';
import { reportRequest } from './request-context.ts';
import { type HeaderList, METHOD_NOT_ALLOWED, Problem } from './response/problem.ts';
import { CONTENT_TYPE, NO_STORE, SECURITY_HEADERS } from './response/send.ts';

/** Maximum lifetime of a connection after a CONNECT request. */
const DETACHED_MS = 2000;

const MALFORMED = new Problem(400, 'The request is not well-formed HTTP.');
const BY_ERROR_CODE: Readonly<Record<string, Problem>> = {
  HPE_INVALID_URL: new Problem(400, 'The target must be ASCII; percent-encode other characters as UTF-8.'),
  HPE_HEADER_OVERFLOW: new Problem(431, 'The request target and headers exceed 16 KiB in total.'),
  ERR_HTTP_REQUEST_TIMEOUT: new Problem(408, 'The request did not arrive in time.'),
};

export function createServer(api: Api, dependencies: Dependencies) {
  const { clock, releases, log, metrics } = dependencies;
  const server = createHttpServer({
    ...expressPrototypes(api.app),
    requireHostHeader: false,
    // By default Node silently drops a second Authorization or Host header. Joined, the header is malformed and
    // refused.
    joinDuplicateHeaders: true,
  });
  const connections = new Connections(server, dependencies, {
    handle: (connection, request, response) => {
      api.arrive(connection, request, response);
    },
    closed: (response) => {
      reportRequest(response, log, metrics);
    },
  });
  const listener = (request: Request, response: Response) => {
    connections.open.get(request.socket)?.answer(request, response);
  };
  server.on('request', listener);
  // No operation uses a request body. The server requests none, and ignores other expectations.
  server.on('checkContinue', listener);
  server.on('checkExpectation', listener);
  server.on('connect', (_request, socket: Socket) => {
    const connection = connections.open.get(socket);
    if (connection === undefined) return;
    connection.endWithin(DETACHED_MS);
    refuse(connection, METHOD_NOT_ALLOWED);
  });
  server.on('clientError', (error: ParserError, socket: Socket) => {
    const connection = connections.open.get(socket);
    if (connection === undefined) return;
    if (error.code === 'ECONNRESET' || !socket.writable) connection.end();
    // The error is in the body of a request, which gets its own response.
    else if (connection.latest?.req.complete === false) connection.endAfterLatest();
    else if (isOfUnknownMethod(error)) refuse(connection, METHOD_NOT_ALLOWED);
    else refuse(connection, BY_ERROR_CODE[error.code ?? ''] ?? MALFORMED);
  });
  return { server, connections };

  /** Refuses input that is not a request, once the requests before it have their responses. */
  function refuse(connection: Connection, problem: Problem): void {
    connection.endWith(() => {
      const requestId = randomUUID();
      const { status, body } = problem;
      metrics.countRequest({ status });
      log.info({ requestId, status, bytes: body.length }, 'request');
      // The path may be unknown, so the response carries the headers of the API.
      const version = selectVersion(undefined, releases, clock());
      return unparsedResponse(problem, [REQUEST_ID_HEADER, requestId, ...versionHeaders(version)]);
    });
  }
}

/**
 * Creates message classes for `http.createServer` whose prototypes are already those of an app. Express sets the
 * prototype of every request and response, and V8 runs slower code for objects whose prototype changes. With these
 * classes, Express sets the prototype that the object has. Without them, the throughput of one ticket is 0.92 times, and that
 * of a 304 0.60 times (docs/performance.md).
 *
 * The app's prototypes are the extension point that Express documents
 * (https://expressjs.com/en/guide/overriding-express-api.html).
 */
function expressPrototypes(app: Express) {
  class ExpressRequest extends IncomingMessage {}
  class ExpressResponse extends ServerResponse<ExpressRequest> {
    /** Declared here because a property that Express adds later changes the shape of the object. */
    readonly locals: object = {};
  }
  Object.setPrototypeOf(ExpressRequest.prototype, app.request);
  Object.setPrototypeOf(ExpressResponse.prototype, app.response);
  Object.assign(app, { request: ExpressRequest.prototype, response: ExpressResponse.prototype });
  return { IncomingMessage: ExpressRequest, ServerResponse: ExpressResponse };
}

interface ParserError extends NodeJS.ErrnoException {
  /** The packet that the parser rejected, and the number of its bytes that are parsed. */
  readonly rawPacket?: Buffer;
  readonly bytesParsed?: number;
}

const REQUEST_LINE = /^([!#$%&'*+.^_`|~\w-]+) \S+ HTTP\/1\.[01]\r?$/;

/** The parser reports unknown methods like malformed input. The line that it rejected distinguishes them. */
function isOfUnknownMethod({ code, rawPacket, bytesParsed = 0 }: ParserError): boolean {
  if (code !== 'HPE_INVALID_METHOD' || rawPacket === undefined) return false;
  const packet = rawPacket.toString('latin1');
  const start = packet.lastIndexOf('\n', bytesParsed - 1) + 1;
  const [line] = packet.slice(start).split('\n', 1);
  const method = REQUEST_LINE.exec(line)?.at(1);
  // The engine keeps the input of the latest match (RegExp.input), here a part of a packet with a key.
  /(?:)/.exec('');
  return method !== undefined && !METHODS.includes(method);
}

/** Returns the bytes of the response to input that the parser rejected, after which the connection closes. */
function unparsedResponse({ status, headers, body }: Problem, further: HeaderList): Buffer {
  const description = ['Connection', 'close', ...CONTENT_TYPE, 'Content-Length', String(body.length)];
  const all = [...SECURITY_HEADERS, ...NO_STORE, ...description, ...headers, ...further];
  const lines = all.map((text, i) => (i % 2 === 0 ? `${text}: ` : `${text}\r\n`));
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n`;
  return Buffer.concat([Buffer.from(head), body]);
}
