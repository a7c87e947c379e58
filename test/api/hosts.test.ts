import { expect } from 'chai';
import { givenApi, type TestApi } from '../support/test-api.ts';

async function originOfLink(api: TestApi, headers: readonly string[], version = '1.1'): Promise<string> {
  const key = `Authorization: ${api.authorization('north')}`;
  const response = await api.rawLines(`GET /v1/tickets HTTP/${version}`, key, ...headers);
  const [, link] = /"nextPage":"([^"]*)"/.exec(response) ?? [undefined, response];
  return link.replace(/\/v1\/tickets\?page=2&perPage=25&snapshot=[\w-]{43}$/, '');
}

const PROXIED = ['Host: internal', 'X-Forwarded-Host: api.example.org', 'X-Forwarded-Proto: https'];

const warningsOf = ({ logged }: TestApi) => logged.filter(({ level }) => level === 'warn');

describe('The address that links begin with', () => {
  describe('from the request', () => {
    const given = givenApi();

    const valid =
      'api.example.org api.example.org. API.Example.Org:8080 localhost:8080 x:0 x:65535 [::1]:3000 [::1] ' +
      '[2001:db8::1]:443 10.0.0.1 under_score.internal';
    for (const host of valid.split(' ')) {
      it(`is the host ${host}`, async () => {
        expect(await originOfLink(given.api, [`Host: ${host}`])).to.equal(`http://${host}`);
      });
    }

    const hostile = [
      ...['', 'evil.example/path', 'evil.example?x=', 'evil.example#', 'user@evil.example', 'evil example'],
      ...[
        'evil.example"onload="x',
        '<script>',
        'evil.example\\',
        '\u00e9vil.example',
        'a,b',
        'x'.repeat(400),
      ],
      ...['evil.example:99999', 'evil.example:80:80', 'evil.example:', 'evil.example:x'],
      ...['-evil.example', '.evil.example', '[::g]', '[1.2.3.4]', '::1', '[::1'],
    ];
    for (const host of hostile) {
      it(`is that of the socket instead of "${host.slice(0, 30)}"`, async () => {
        expect(await originOfLink(given.api, [`Host: ${host}`])).to.equal(given.api.origin);
      });
    }

    it('is that of the socket for HTTP/1.0 without a host', async () => {
      expect(await originOfLink(given.api, [], '1.0')).to.equal(given.api.origin);
    });

    it('ignores X-Forwarded headers, and warns once that the proxy is not trusted', async () => {
      expect(warningsOf(given.api)).to.deep.equal([]);
      for (let n = 0; n < 2; n++) expect(await originOfLink(given.api, PROXIED)).to.equal('http://internal');
      const [{ address, msg }, ...others] = warningsOf(given.api);
      expect(address).to.match(/127\.0\.0\.1$/);
      expect(msg).to.include('links are http').and.include('TRUST_PROXY');
      expect(others).to.deep.equal([]);
    });

    for (const [what, headers, version] of [
      ['HTTP/1.1 without a host', [], '1.1'],
      ['two hosts', ['Host: a.example', 'Host: b.example'], '1.1'],
      ['the same host twice', ['Host: a.example', 'Host: a.example'], '1.1'],
      ['an empty second host', ['Host: a.example', 'Host:'], '1.1'],
      ['HTTP/1.0 with two hosts', ['Host: a.example', 'Host: b.example'], '1.0'],
    ] as const) {
      it(`is 400 for ${what}`, async () => {
        const response = await originOfLink(given.api, headers, version);
        expect(response).to.match(/^HTTP\/1\.1 400 [^]*must have one Host header/);
      });
    }
  });

  describe('from a trusted proxy', () => {
    const given = givenApi(() => ({ config: { trustProxy: 1 } }));

    it('is the forwarded one', async () => {
      expect(await originOfLink(given.api, PROXIED)).to.equal('https://api.example.org');
      expect(warningsOf(given.api)).to.deep.equal([]);
    });

    it('is always a syntactically valid host', async () => {
      const headers = ['Host: internal', 'X-Forwarded-Host: evil.example/"', 'X-Forwarded-Proto: javascript'];
      expect(await originOfLink(given.api, headers)).to.equal(given.api.origin);
    });
  });

  describe('from the configuration', () => {
    const given = givenApi(() => ({
      config: { publicBaseUrl: 'https://api.example.org/tickets' },
    }));

    it('is the configured one for any request', async () => {
      expect(await originOfLink(given.api, PROXIED)).to.equal('https://api.example.org/tickets');
      expect(warningsOf(given.api)).to.deep.equal([]);
    });
  });
});
