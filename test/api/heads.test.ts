import { expect } from 'chai';
import { PUBLIC_PATHS } from '../../src/contract/openapi/public-paths.ts';
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
    const sent = { Authorization: given.api.authorization('north'), ...LONGEST, ...headers };
    const lines = Object.entries(sent).map(([name, value]) => `${name}: ${value}`);
    const [head] = (await given.api.rawLines(`GET ${target} HTTP/1.1`, ...lines)).split('\r\n\r\n');
    expect(head).to.match(/^HTTP\/1\.1 [234]/);
    return `${head}\r\n\r\n`;
  }

  it('has at most 4 kB with the longest link, many ignored parameters and all other headers', async () => {
    const headers = { 'Accept-Encoding': 'zstd', 'Service-API-Version': '2026-10-01' };
    const headWith = (length: number) =>
      headOf(`/v1/tickets?eventIds=evt_a,x${'x'.repeat(length)}&perPage=9&${UNKNOWN}`, headers);
    const urlOf = (head: string) => /^Link: <(.*)>/m.exec(head)?.[1] ?? '';
    const longest = 2000 - urlOf(await headWith(0)).length;
    expect(await headWith(longest + 1)).not.to.include('Link: ');
    const head = await headWith(longest);
    expect(urlOf(head)).to.have.length(2000);
    for (const name of ['Service-API-Ignored-Parameters', 'RateLimit', 'ETag', 'Content-Encoding'])
      expect(head).to.include(`\r\n${name}: `);
    for (const value of [ORIGIN, LONGEST['X-Request-Id']]) expect(head).to.include(value);
    expect(head.length).to.be.within(3800, MAX_HEAD);
  });

  it('has at most 4 kB for any path, with the longest values that a request may repeat', async () => {
    const query = `since=${'x'.repeat(300)}&tags=${'%C3%BC'.repeat(300)}&${UNKNOWN}`;
    for (const path of [...PATHS, ...Object.values(PUBLIC_PATHS)])
      for (const headers of [
        { Prefer: 'handling=strict', 'Service-API-Version': 'x'.repeat(500) },
        { Accept: 'application/x-ndjson', 'If-None-Match': '*', 'Service-API-Version': 'preview' },
      ])
        expect((await headOf(`${path}?${query}`, headers)).length, path).to.be.at.most(MAX_HEAD);
  });
});
