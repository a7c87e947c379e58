import { readFileSync } from 'node:fs';
import { STATUS_CODES } from 'node:http';
import { expect } from 'chai';
import { Pins } from '../../src/http/checks/pin.ts';
import { newServedDigests } from '../../src/store/registry/served-digests.ts';
import { type ApiResponse, givenApi, type TestApi } from '../support/test-api.ts';

const readme = textOf('README.md');
const integrators = textOf('docs/integrators.md');

function textOf(path: string): string {
  return readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
}

/** A request of the document, and the response that the document quotes after it. */
interface Example {
  readonly curl: string;
  readonly quoted: string | undefined;
}

const examples = Array.from(
  integrators.matchAll(/```sh\n(curl .*)\n```\n(?:\n```http\n([^`]*)\n```)?/g),
  ([, curl, quoted]): Example => ({ curl, quoted }),
);
/** Quoted responses that no request of the document gets. */
const otherResponses = Array.from(
  integrators.matchAll(/(?<!```\n\n)```http\n([^`]*)\n```/g),
  ([, quoted]) => quoted,
);

/** Returns the path and query of a curl line. */
function targetOf(curl: string): string {
  return /(?:\$FOYER_URL|http:\/\/127\.0\.0\.1:3000)([^"']*)/.exec(curl)?.[1] ?? '';
}

/** Sends the request of a curl line. The sample key, an event of the fixture and a token stand for the placeholders. */
async function send(api: TestApi, curl: string): Promise<ApiResponse> {
  const token = curl.includes('$TOKEN') ? await tokenOf(api) : '';
  const target = targetOf(curl).replace('EVENT', 'evt_a').replace('$TOKEN', token);
  const key = api.authorization('north').replace('Bearer ', '');
  const headers = Array.from(curl.matchAll(/-H "([^:]+): ([^"]*)"/g), ([, name, value]) => [
    name,
    value.replace(/\$(FOYER_)?KEY/, key).replace('$ETAG', '"none"'),
  ]);
  return api.send(target, { as: undefined, headers: Object.fromEntries(headers) as Record<string, string> });
}

/** Returns the token of the live snapshot. */
async function tokenOf(api: TestApi): Promise<string> {
  const headers = { 'Service-API-Version': 'preview' };
  const { text } = await api.send('/v1/changes?collections=events', { headers });
  return /"next":"([^"]+)"/.exec(text)?.[1] ?? '';
}

/** Compares a response with its quotation, in which `…` stands for any text. */
function expectQuoted(response: ApiResponse, quoted: string): void {
  const [head = '', body = ''] = quoted.split('\n\n');
  const [statusLine, ...headers] = head.split('\n');
  expect(`HTTP/1.1 ${response.status} ${STATUS_CODES[response.status] ?? ''}`).to.equal(statusLine);
  for (const header of headers) {
    const [name = '', value = ''] = header.split(/: (.*)/);
    expectText(response.headers[name.toLowerCase()], value);
  }
  if (body !== '') expectText(response.text, body.replaceAll(/\n */g, ''));
}

function expectText(actual: string | undefined, quoted: string): void {
  const parts = quoted.split('…');
  if (parts.length === 1) expect(actual).to.equal(quoted);
  else expect(actual).to.match(new RegExp(`^${parts.map(RegExp.escape).join('.*')}$`));
}

function quotedWith(part: string): string {
  const quoted = otherResponses.find((response) => response.includes(part));
  if (quoted === undefined) throw new Error(`the document quotes no response with ${part}`);
  return quoted;
}

describe('docs/integrators.md', () => {
  let now = 0;
  const given = givenApi(() => ({ pins: new Pins(newServedDigests(), () => now) }));
  const limited = givenApi(() => ({ config: { rateLimitPerMinute: 2 } }));

  for (const { curl, quoted } of examples) {
    it(`quotes the response to ${targetOf(curl)}`, async () => {
      const response = await send(given.api, curl);
      if (quoted === undefined) expect(response.status).to.equal(200);
      else expectQuoted(response, quoted);
    });
  }

  it('quotes the response to a link whose data is gone', async () => {
    const link = `/v1/tickets?page=2&snapshot=${'A'.repeat(43)}`;
    expect((await given.api.send(link)).status).to.equal(429);
    now += 60_000;
    expectQuoted(await given.api.send(link), quotedWith('query.snapshot'));
  });

  it('quotes the rate limit, and the response beyond it', async () => {
    const withLimit = (quoted: string) => quoted.replaceAll('600', '2').replace('r=599', 'r=1');
    expectQuoted(await limited.api.send('/v1/events'), withLimit(quotedWith('RateLimit')));
    await limited.api.send('/v1/events');
    expectQuoted(await limited.api.send('/v1/events'), withLimit(quotedWith('Retry-After')));
  });
});

describe('README.md', () => {
  const given = givenApi();

  for (const [curl] of readme.matchAll(/^curl .*$/gm)) {
    it(`makes a call that returns records: ${targetOf(curl)}`, async () => {
      const { status, body } = await send(given.api, curl);
      expect(status).to.equal(200);
      expect(body.items).not.to.be.empty;
    });
  }
});
