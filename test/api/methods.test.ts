import { expect } from 'chai';
import { givenApi } from '../support/test-api.ts';

describe('Methods', () => {
  const given = givenApi();
  for (const path of ['/', '/openapi.json', '/healthz', '/v1/tickets', '/v1/events/evt_a', '/v1/none']) {
    it(`HEAD ${path} is GET without the body, and has its length`, async () => {
      const headers = { 'Accept-Encoding': 'identity', 'X-Request-Id': 'same' };
      const get = await given.api.send(path, { headers });
      const head = await given.api.send(path, { method: 'head', headers });
      const kept = ({ headers }: typeof get) => ({ ...headers, date: '' });
      expect([head.status, kept(head), head.text]).to.deep.equal([get.status, kept(get), '']);
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
    it(`OPTIONS ${path} lists the methods, and the others are 405, with no key`, async () => {
      const options = await given.api.send(path, { method: 'options', as: undefined });
      expect(options).to.include({ status: 204, text: '' });
      for (const method of ['post', 'put', 'patch', 'delete'] as const) {
        const { status, headers, body } = await given.api.send(path, { method, as: undefined });
        expect(status).to.equal(405);
        expect(body).to.have.all.keys('detail');
        for (const { allow } of [headers, options.headers]) expect(allow).to.equal('GET, HEAD, OPTIONS');
      }
    });
  }

  it('accepts an unknown expectation', async () => {
    const response = await given.api.rawLines('GET /healthz HTTP/1.1', 'Host: x', 'Expect: tea');
    expect(response).to.match(/^HTTP\/1.1 200 /);
  });

  for (const [method, target] of [
    ['FETCH', '/v1/events'],
    ['TRACE', '/v1/events'],
    ['CONNECT', 'x:443'],
  ]) {
    it(`refuses ${method}`, async () => {
      const response = await given.api.rawLines(`${method} ${target} HTTP/1.1`, 'Host: x:443');
      expect(response).to.match(/^HTTP\/1\.1 405 [^]*Allow: GET, HEAD, OPTIONS/);
    });
  }
});
