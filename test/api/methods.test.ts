import { expect } from 'chai';
import { givenApi } from '../support/test-api.ts';

describe('Methods', () => {
  const given = givenApi();
  const PATHS = [
    '/v1/events',
    '/v1/events/evt_a',
    '/v1/tickets?perPage=2',
    '/v1/none',
    '/v1/tickets?page=0',
    '/',
    '/openapi.json',
    '/healthz',
  ];

  for (const path of PATHS) {
    it(`HEAD ${path} is GET without the body`, async () => {
      const headers = { 'Accept-Encoding': 'identity' };
      const get = await given.api.send(path, { headers });
      const head = await given.api.send(path, { method: 'head', headers });
      expect(head.status).to.equal(get.status);
      expect(head.text).to.equal('');
      const kept = ({ headers }: typeof get) => {
        const { 'x-request-id': id, date, ...rest } = headers;
        expect([id, date]).not.to.include(undefined);
        return rest;
      };
      expect(kept(head)).to.deep.equal(kept(get));
      expect(Number(head.headers['content-length'])).to.equal(Buffer.byteLength(get.text));
    });
  }

  for (const path of [
    '/v1/events',
    '/v1/events/none',
    '/v1/catalog/offers',
    '/',
    '/openapi.json',
    '/healthz',
  ]) {
    it(`OPTIONS ${path} lists the methods, with no key`, async () => {
      const { status, headers, text } = await given.api.send(path, { method: 'options', as: undefined });
      expect(status).to.equal(204);
      expect(headers['allow']).to.equal('GET, HEAD, OPTIONS');
      expect(text).to.equal('');
    });

    for (const method of ['post', 'put', 'patch', 'delete'] as const) {
      it(`${method.toUpperCase()} ${path} is 405, with no key`, async () => {
        const { status, headers, body } = await given.api.send(path, { method, as: undefined });
        expect(status).to.equal(405);
        expect(headers['allow']).to.equal('GET, HEAD, OPTIONS');
        expect(body).to.have.all.keys('detail');
      });
    }
  }

  it('responds to a request with a body at once, without 100 Continue', async () => {
    const response = await given.api.raw(
      'POST /v1/events HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\nabcde',
    );
    expect(response).to.match(/^HTTP\/1.1 405 /);
  });

  it('accepts an unknown expectation', async () => {
    const response = await given.api.raw(
      'GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\nExpect: tea\r\n\r\n',
    );
    expect(response).to.match(/^HTTP\/1.1 200 /);
  });

  it('refuses an unknown method', async () => {
    const response = await given.api.raw('FETCH /v1/events HTTP/1.1\r\nHost: x\r\n\r\n');
    expect(response)
      .to.match(/^HTTP\/1.1 405 /)
      .and.to.include('Allow: GET, HEAD, OPTIONS')
      .and.to.include('Service-API-Version: stable');
  });

  it('refuses CONNECT and TRACE', async () => {
    const connect = await given.api.raw('CONNECT example.org:443 HTTP/1.1\r\nHost: example.org:443\r\n\r\n');
    expect(connect)
      .to.match(/^HTTP\/1.1 405 /)
      .and.to.include('Allow: GET, HEAD, OPTIONS');
    const trace = await given.api.raw('TRACE /v1/events HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    expect(trace).to.match(/^HTTP\/1.1 405 /);
  });
});
