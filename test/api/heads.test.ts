import { expect } from 'chai';
import fc from 'fast-check';
import { PUBLIC_PATHS } from '../../src/contract/openapi/public-paths.ts';
import { FIXED } from '../support/random.ts';
import { RawClient } from '../support/raw-client.ts';
import { givenApi } from '../support/test-api.ts';

/** What nginx and other proxies accept by default. */
const MAX_HEAD = 4096;
const ORIGIN = `https://${'a'.repeat(253)}:65535`;
const LONGEST = { Host: `${'h'.repeat(255)}:65535`, Origin: ORIGIN, 'X-Request-Id': 'r'.repeat(128) };
const UNKNOWN = Array.from({ length: 999 }, (_, i) => `u${i}`).join('&');
const PATHS = [
  ...['tickets', 'events', 'orders', 'catalog/offers', 'events/evt_a/sessions', 'tickets/tkt_00', 'changes'],
  'none',
].map((path) => `/v1/${path}`);

describe('The head of a response', () => {
  const given = givenApi(() => ({
    config: { corsOrigins: [ORIGIN], rateLimitPerMinute: 1_000_000_000, explorer: true },
  }));

  async function headOf(target: string, headers: Readonly<Record<string, string>>): Promise<string> {
    const client = new RawClient(given.api.port);
    const sent = { Authorization: given.api.authorization('north'), ...LONGEST, ...headers };
    const lines = Object.entries(sent).map(([name, value]) => `${name}: ${value}`);
    client.socket.write([`GET ${target} HTTP/1.1`, ...lines, 'Connection: close', '', ''].join('\r\n'));
    await client.ended;
    const [head] = client.received.split('\r\n\r\n');
    expect(head).to.match(/^HTTP\/1\.1 [234]/);
    return `${head}\r\n\r\n`;
  }

  it('has at most 4 kB with the longest link, many ignored parameters and all other headers', async () => {
    const headers = { 'Accept-Encoding': 'zstd', 'Service-API-Version': '2026-10-01' };
    const headWith = (length: number) =>
      headOf(`/v1/tickets?eventIds=evt_a,x${'x'.repeat(length)}&perPage=9&${UNKNOWN}`, headers);
    const urlOf = (head: string) => /^Link: <(.*)>/m.exec(head)?.[1] ?? '';
    const head = await headWith(2000 - urlOf(await headWith(0)).length);
    expect(urlOf(head)).to.have.length(2000);
    for (const name of ['Service-API-Ignored-Parameters', 'RateLimit', 'ETag', 'Content-Encoding'])
      expect(head).to.include(`\r\n${name}: `);
    for (const value of [ORIGIN, LONGEST['X-Request-Id']]) expect(head).to.include(value);
    expect(head.length).to.be.within(3800, MAX_HEAD);
  });

  it('has at most 4 kB, whatever the request', async () => {
    const names = ['eventIds', 'tags', 'qrCodes', 'email', 'startAt.gte', 'since', 'perPage', 'ü', '%'];
    const name = fc.oneof(fc.constantFrom(...names), fc.nat(999).map(String));
    const value = fc.tuple(fc.constantFrom('', '1', 'evt_a,ä'), fc.nat(200));
    const headers = {
      Accept: fc.constantFrom('application/x-ndjson', 'text/html', '*/*'),
      'Accept-Encoding': fc.constantFrom('gzip', 'zstd'),
      'If-None-Match': fc.nat(500).map((n) => (n < 9 ? '*' : `"${'x'.repeat(n)}"`)),
      'Service-API-Version': fc.constantFrom('preview', 'x'.repeat(500)),
      Prefer: fc.constant('handling=strict'),
    };
    const request = fc.tuple(
      fc.constantFrom(...PATHS, ...Object.values(PUBLIC_PATHS)),
      fc.array(fc.tuple(name, value), { maxLength: 200 }),
      fc.record(headers, { requiredKeys: [] }),
    );
    await fc.assert(
      fc.asyncProperty(request, async ([path, query, sent]) => {
        const pairs = query.map(([key, [text, n]]) => `${key}=${encodeURIComponent(text)}${'y'.repeat(n)}`);
        // With the headers, at most 16 kB.
        const head = await headOf(`${path}?${pairs.join('&').slice(0, 14_000)}`, sent);
        expect(head.length, head).to.be.at.most(MAX_HEAD);
      }),
      FIXED,
    );
  });
});
