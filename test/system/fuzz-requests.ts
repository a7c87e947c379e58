import type { Random } from '../../scripts/sample/random.ts';
import { OPERATIONS, type Parameter, parametersOf } from '../../src/contract/operations.ts';
import { randomText } from '../support/oracle/texts.ts';
import { shuffled } from '../support/random.ts';
import { times } from '../support/records.ts';

/** Random requests, from valid ones by the declared operations to bytes that are hardly HTTP. */

/** A request before it is written. Texts are Latin-1: one byte per character. */
interface Draft {
  method: string;
  target: string;
  version: string;
  /** Lines without their ends. */
  headers: string[];
  endOfLine: string;
  body: string;
}

export interface FuzzRequest {
  readonly bytes: Buffer;
  readonly method: string;
  /** The target of a well-formed request; undefined for any other, whose response no operation documents. */
  readonly target: string | undefined;
}

/** Limit of target and headers, and some room for the version and the line ends. */
const MAX_HEAD_BYTES = 16_000;

/** Returns a well-formed request of an operation, with valid, invalid and unknown parameters and headers. */
export function wellFormedRequest(random: Random, authorizations: readonly string[]): FuzzRequest {
  const draft = randomDraft(random, authorizations);
  const bytes = written(draft);
  if (bytes.length > MAX_HEAD_BYTES) return wellFormedRequest(random, authorizations);
  return { bytes, method: draft.method, target: draft.target };
}

/** Returns a request that is malformed, most probably, in one or several ways. */
export function malformedRequest(random: Random, authorizations: readonly string[]): FuzzRequest {
  const draft = randomDraft(random, authorizations);
  for (let changes = random.between(0, 3); changes > 0; changes--) malform(random, draft);
  const bytes = written(draft);
  return {
    bytes: random.chance(0.4) ? damaged(random, bytes) : bytes,
    method: draft.method,
    target: undefined,
  };
}

const words = (text: string) => text.split(' ');
const headers = (name: string, values: readonly string[]) => values.map((value) => `${name}: ${value}`);

const HEADERS = [
  headers('Service-API-Version', ['', ...words('preview preview stable 2026-10-01 2026-02-30 Preview')]),
  headers('If-None-Match', ['*', '"x"', 'W/"x", "y"', '', '"x', ','.repeat(2000), '"'.repeat(2000)]),
  headers('X-Request-Id', ['id-1', 'a b', 'x'.repeat(129), '<script>', '']),
  headers('X-Forwarded-Host', ['evil.example', '"><script>']),
  headers('Accept-Encoding', ['gzip, br, zstd', 'identity;q=0', '*']),
  headers('Range', ['bytes=0-1', 'bytes=-9,3-,x']),
  headers('Cookie', ['a=b', '='.repeat(500)]),
];

function randomDraft(random: Random, authorizations: readonly string[]): Draft {
  const further = HEADERS.filter(() => random.chance(0.2)).map((lines) => random.pick(lines));
  const host = random.pick(headers('Host', ['x', 'api.example.org', '127.0.0.1:80']));
  return {
    method: random.pick(words('GET GET GET GET HEAD OPTIONS POST DELETE')),
    target: randomTarget(random),
    version: 'HTTP/1.1',
    headers: shuffled(random, [host, `Authorization: ${random.pick(authorizations)}`, ...further]),
    endOfLine: '\r\n',
    body: '',
  };
}

const IDS = words('evt_0 tkt_1 ord_2 off_3 ses_4 north-1 none .. .');
const HOSTILE_VALUES = [
  ...words('0 -1 1.5 1e2 ٣ true TRUE null , ,,a 1,2,3,4,5,6,7,8,9,10,11 __proto__ 2026-02-30T00:00Z'),
  ...['', ' ', '\0', '\r\n\r\n', '9'.repeat(400), '<script>alert(1)</script>', "' OR 1=1 --"],
  ...['2026-01-01T00:00:00.123456789012345Z', '2026-01-01T00:00:00 01:00'],
  ...[`2026-01-01T00:00:00.${'1'.repeat(3000)}`, ' '.repeat(3000), 'a'.repeat(3000), ' a'.repeat(1500)],
];
const BROKEN_ENCODINGS = words('% %zz %f %ff %C3 %ED%A0%80 %00 %25ff + %2B & =&=');

function randomTarget(random: Random): string {
  const operation = random.pick(OPERATIONS);
  const id = random.chance(0.8)
    ? encodeURIComponent(random.chance(0.7) ? random.pick(IDS) : randomText(random) || '-')
    : random.pick(words('%ff %zz %2F %00 %F0%9F%98%80'));
  const path = operation.path.replace(/\{\w+\}/, id);
  if (random.chance(0.02))
    return `${path}?${random.pick(words('a& page=1& x=%41& & ='))}`.padEnd(9000, 'a&=');
  const query = parametersOf(operation)
    .filter(() => random.chance(0.3))
    .map((parameter) => `${encodeURIComponent(parameter.name)}=${randomValue(random, parameter)}`);
  if (random.chance(0.15))
    query.push(`${encodeURIComponent(randomText(random))}=${random.pick(BROKEN_ENCODINGS)}`);
  if (query.length > 0 && random.chance(0.1)) query.push(random.pick(query));
  return query.length === 0 ? path : `${path}?${shuffled(random, query).join('&')}`;
}

function randomValue(random: Random, { example, kind: { schema } }: Parameter): string {
  const values = schema['enum'];
  const valid = Array.isArray(values) ? String(random.pick(values)) : (example ?? 'x');
  const value = random.chance(0.6)
    ? valid
    : random.pick([random.pick(HOSTILE_VALUES), random.pick(IDS), randomText(random)]);
  return random.chance(0.95) ? encodeURIComponent(value) : random.pick(BROKEN_ENCODINGS);
}

const METHODS = words('get GETT PUT PATCH TRACE CONNECT PRI M-SEARCH QUERY SOURCE');
const VERSIONS = words('HTTP/1.0 HTTP/0.9 HTTP/2.0 http/1.1 HTTP/1.11 HTTP/1. HTTP/1.1\0 RTSP/1.0 ICE/1.0');
const TARGETS = words('h:443 * /%2e%2e/ ? # http:// /v1 /openapi.json /healthz /<script>');
/** Targets around that of the draft, for which {} stands. */
const AROUND = [
  ...words('http://h{} HTTPS://u:p@h:1{} ftp://h{} /{} /v1/..{} \\{} {}#f {}\0 {}\xff {}\t'),
  '{} x',
];
const NAMES = ['', ' ', 'a b', 'Host ', 'x'.repeat(9000), ...words('\xe9 \0 __proto__ constructor :a (a)')];
const VALUES = ['', ' ', '\0', '\x80\xff', '\t', 'a\rb', 'a\nb', 'a\r\n b', '"', 'x'.repeat(9000)];
const HOSTS = ['', 'a b', '[::1', 'x'.repeat(300), 'x:99999', '"><script>', 'é', '\0', 'a,b', 'http://x/'];
const CODINGS = ['', ...words('chunked xchunked identity CHUNKED \x0bchunked'), ' chunked ', 'gzip, chunked'];
const LENGTHS = ['0', '5', '-1', '+5', '5,5', '0x5', '1e3', '9'.repeat(30), '', ' 5 ', '65536', '1000000'];
const CHUNKS = [
  ...['0\r\n\r\n', '5\r\nabcde\r\n0\r\n\r\n', '5\r\nab', '-1\r\n', 'zz\r\n', '5;a="\r\n', '\r\n'],
  ...['0\r\nTrailer: x\r\n\r\n', '5\nabcde\n0\n\n', '5\r\nabcdefgh\r\n', `${'f'.repeat(40)}\r\n`],
  `1;${'x'.repeat(20_000)}\r\na\r\n`,
];
const AFTER = ['\r\n', '\r\n\r\n', '\0', 'GET', 'HTTP/1.1 200 OK\r\n\r\n', '\x16\x03\x01\x02'];

/** Malformed and rare values of each part of a request. The body may not be what the headers announce. */
const HOSTILE = {
  method: [...METHODS, '', 'G\0T', 'X'.repeat(3000), ' GET', '\r\nGET', '\x16\x03\x01'],
  version: [...VERSIONS, '', 'HTTP/1.1 '],
  endOfLine: ['\n', '\r', '\r\n ', '\r\r\n', '\n\r', '\0\r\n'],
  body: [...CHUNKS, ...AFTER, 'abcde', 'x'.repeat(70_000)],
};
const HOSTILE_HEADERS = [
  NAMES.map((name) => `${name}: x`),
  headers('X-Value', VALUES),
  headers('Host', HOSTS),
  headers('Authorization', ['', 'Bearer', 'Basic eDp5', 'Bearer \xff', 'Bearer svc:o:\0:x']),
  headers('Transfer-Encoding', CODINGS),
  headers('Content-Length', LENGTHS),
  headers('Expect', ['100-continue', '100-Continue, x', 'tea', '']),
  headers('Connection', ['close', 'upgrade', 'keep-alive, close', 'Host', 'HTTP2-Settings']),
  headers('Upgrade', ['h2c', 'websocket', '']),
];

const PARTS = ['method', 'version', 'endOfLine', 'body', 'target', 'headers', 'headers'] as const;

/** Changes a part of a request, or adds, repeats or removes headers. */
function malform(random: Random, draft: Draft): void {
  const part = random.pick(PARTS);
  if (part === 'target') {
    const long = [`/${'a/'.repeat(4000)}`, `/v1/events?${'%'.repeat(5000)}`];
    draft.target = random.pick(['', ...TARGETS, ...AROUND, ...long]).replace('{}', () => draft.target);
  } else if (part !== 'headers') draft[part] = random.pick(HOSTILE[part]);
  else if (random.chance(0.1)) {
    const count = random.pick([100, 1000, 2500]);
    draft.headers.push(...times(count, (i) => `a${i % 700}: `));
  } else if (random.chance(0.2)) {
    draft.headers = draft.headers.flatMap((line) => Array<string>(random.below(3)).fill(line));
  } else {
    draft.headers.push(random.pick(random.pick(HOSTILE_HEADERS)));
    if (random.chance(0.5)) draft.body = random.pick(HOSTILE.body);
  }
}

function written({ method, target, version, headers, endOfLine, body }: Draft): Buffer {
  const lines = [`${method} ${target} ${version}`, ...headers, '', ''];
  return Buffer.from(lines.join(endOfLine) + body, 'latin1');
}

/** Replaces, inserts, drops or repeats a few bytes. */
function damaged(random: Random, bytes: Buffer): Buffer {
  let result = bytes;
  for (let count = random.between(1, 4); count > 0; count--) {
    const at = random.below(result.length + 1);
    const until = Math.min(result.length, at + random.pick([0, 0, 1, 1, 2, 20]));
    const added = random.pick([
      Buffer.of(),
      Buffer.of(random.below(256)),
      Buffer.from(random.pick(['\0', '\r\n', '\n', ' ', ':', '\r\n\r\n', '%', '\xff'])),
      result.subarray(at, at + random.below(60)),
    ]);
    result = Buffer.concat([result.subarray(0, at), added, result.subarray(until)]);
  }
  return result;
}
