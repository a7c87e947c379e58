import { STATUS_CODES } from 'node:http';
import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { decoded } from './coded-response.ts';

/** A response as its bytes on a connection show it. */
export interface RawResponse {
  readonly status: number;
  /** By name in lower case. */
  readonly headers: Record<string, string>;
  /** Without its content coding. */
  readonly text: string;
}

const HEAD = /^HTTP\/1\.1 ([1-5]\d\d) ([A-Z][A-Za-z- ]+)\r\n((?:[A-Za-z-]+: [\x20-\x7e]*\r\n)+)\r\n/;
const CHUNK = /^([\da-f]+)\r\n/;

/** Parses the bytes of a connection, as Latin-1, strictly into responses: all of them are whole. */
export function responsesIn(received: string): RawResponse[] {
  const { responses, rest } = wholeResponsesIn(received);
  expect(rest.slice(0, 500), 'no whole response').to.equal('');
  return responses;
}

/**
 * Parses the responses at the beginning of received bytes, up to the first that is incomplete or malformed. A JSON text
 * cannot begin like a response, which distinguishes the response to HEAD.
 */
export function wholeResponsesIn(received: string): { responses: RawResponse[]; rest: string } {
  const responses: RawResponse[] = [];
  for (let rest = received; ;) {
    const [head, code, reason, lines] = HEAD.exec(rest) ?? [];
    if (head === undefined) return { responses, rest };
    const status = Number(code);
    expect(reason).to.equal(STATUS_CODES[status]);
    const entries = lines
      .trimEnd()
      .split('\r\n')
      .map((line) => /^(.*?): (.*)$/.exec(line) ?? [])
      .map(([, name, value]) => [name.toLowerCase(), value]);
    const headers = Object.fromEntries(entries) as Record<string, string>;
    expect(Object.keys(headers), 'repeated headers').to.have.length(entries.length);
    const body = bodyIn(headers, rest.slice(head.length));
    if (body === undefined) return { responses, rest };
    const bytes = Buffer.from(body.content, 'latin1');
    const text = (body.length === 0 ? bytes : decoded({ headers, body: bytes })).toString();
    responses.push({ status, headers, text });
    rest = rest.slice(head.length + body.length);
  }
}

/** Returns the body after a head, and its length as sent; undefined when it is incomplete. */
function bodyIn(
  headers: RawResponse['headers'],
  rest: string,
): { content: string; length: number } | undefined {
  // The response to HEAD has neither chunks nor a length of a coded body.
  if (headers['transfer-encoding'] === 'chunked' && CHUNK.test(rest)) {
    for (let content = '', at = 0; ;) {
      const [line = '', digits = ''] = CHUNK.exec(rest.slice(at, at + 16)) ?? [];
      const end = at + line.length + parseInt(digits, 16);
      if (rest.slice(end, end + 2) !== '\r\n') return undefined;
      if (end === at + line.length) return { content, length: end + 2 };
      content += rest.slice(at + line.length, end);
      at = end + 2;
    }
  }
  const hasBody = rest.startsWith('{') || 'content-encoding' in headers;
  const length = hasBody ? Number(headers['content-length'] ?? 0) : 0;
  return rest.length < length ? undefined : { content: rest.slice(0, length), length };
}

/**
 * Opens a connection, and returns all received bytes, as Latin-1, when the server or the client has ended it.
 * @param write sends the requests
 * @param read called with all bytes received so far; ends the connection if it returns true
 */
export async function exchange(
  port: number,
  write: (socket: Socket) => unknown,
  read: (received: string, socket: Socket) => unknown,
): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  let received = '';
  const written = write(socket);
  try {
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      received += chunk.toString('latin1');
      if ((await read(received, socket)) === true) break;
    }
  } catch {
    // The client resets the connection, or the server, which closes it before it has read all.
  }
  socket.destroy();
  await written;
  return received;
}
