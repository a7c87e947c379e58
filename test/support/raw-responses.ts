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
