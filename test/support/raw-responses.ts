import { STATUS_CODES } from 'node:http';
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

/** Parses a chunked body. Returns its content, and its length. */
function chunksIn(received: string): { readonly text: string; readonly length: number } {
  let [text, at] = ['', 0];
  for (;;) {
    const [line = '', digits = ''] = CHUNK.exec(received.slice(at, at + 16)) ?? [];
    const size = parseInt(digits, 16);
    const end = at + line.length + size;
    if (received.slice(end, end + 2) !== '\r\n') throw new Error('incomplete response');
    text += received.slice(at + line.length, end);
    at = end + 2;
    if (size === 0) return { text, length: at };
  }
}

/**
 * Parses the bytes of a connection, as Latin-1, strictly into responses. A JSON text cannot begin like a response,
 * which distinguishes the response to HEAD.
 * @throws Error when they are malformed, or the last one is incomplete
 */
export function responsesIn(received: string): RawResponse[] {
  const responses: RawResponse[] = [];
  for (let rest = received; rest !== '';) {
    const [head, code, reason, lines] = HEAD.exec(rest) ?? [];
    if (head === undefined) throw new Error(`no well-formed response: ${JSON.stringify(rest.slice(0, 500))}`);
    const status = Number(code);
    expect(reason).to.equal(STATUS_CODES[status]);
    const entries = lines
      .trimEnd()
      .split('\r\n')
      .map((line) => /^(.*?): (.*)$/.exec(line) ?? [])
      .map(([, name, value]) => [name.toLowerCase(), value]);
    const headers = Object.fromEntries(entries) as Record<string, string>;
    expect(Object.keys(headers), 'repeated headers').to.have.length(entries.length);
    rest = rest.slice(head.length);
    if (headers['transfer-encoding'] === 'chunked' && CHUNK.test(rest)) {
      const chunked = chunksIn(rest);
      const body = Buffer.from(chunked.text, 'latin1');
      responses.push({ status, headers, text: decoded({ headers, body }).toString() });
      rest = rest.slice(chunked.length);
      continue;
    }
    // The response to HEAD has no length of a coded body.
    const hasBody = rest.startsWith('{') || 'content-encoding' in headers;
    const length = hasBody ? Number(headers['content-length'] ?? 0) : 0;
    if (rest.length < length) throw new Error('incomplete response');
    const body = Buffer.from(rest.slice(0, length), 'latin1');
    responses.push({ status, headers, text: (length === 0 ? body : decoded({ headers, body })).toString() });
    rest = rest.slice(length);
  }
  return responses;
}
