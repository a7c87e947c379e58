import { expect } from 'chai';
import { type Body, NO_STORE, send } from '../../../src/http/response/send.ts';
import { RawClient } from '../../support/raw-client.ts';
import { servesForEach } from '../../support/serve.ts';
import { serverDependencies, serverWith } from '../../support/test-api.ts';

const inShared = (length: number, fill: string) => Buffer.from(new SharedArrayBuffer(length)).fill(fill);
const BODIES: Readonly<Record<string, Body>> = {
  'one short text': ['{}'],
  'text and bytes in turn': ['[', inShared(1000, 'a'), ',', Buffer.from('é'), ']'],
  nothing: ['', Buffer.alloc(0)],
  'UTF-8 of more than a few kilobytes': ['[', Buffer.from('é'.repeat(5000)), ']'],
  'a long run between texts': ['[', inShared(200_000, 'b'), ']'],
  'many long pieces': Array.from({ length: 90 }, (_, i) => inShared(10_000, String(i % 10))),
};
const bytesOf = (body: Body) =>
  Buffer.concat(body.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece)));

describe('A response', () => {
  const serve = servesForEach();
  let port: number;
  let sent: Body;

  beforeEach(async () => {
    const server = serverWith((app) => {
      app.use((_request, response) => {
        send(response, 200, NO_STORE, sent);
      });
    }, serverDependencies());
    port = await serve(server);
  });

  for (const [what, body] of Object.entries(BODIES)) {
    it(`has all pieces of its body, and its length, without them for HEAD: ${what}`, async () => {
      sent = body;
      const text = bytesOf(body).toString('latin1');
      const client = new RawClient(port);
      const request = (method: string, more = '') => `${method} / HTTP/1.1\r\nHost: a\r\n${more}\r\n`;
      client.socket.write(request('GET') + request('GET') + request('HEAD', 'Connection: close\r\n'));
      await client.ended;
      const responses = client.received.split('HTTP/1.1 200 OK\r\n').slice(1);
      expect(responses).to.have.length(3);
      for (const [i, response] of responses.entries()) {
        const [head] = response.split('\r\n\r\n', 1);
        expect(head).to.match(new RegExp(`^Content-Length: ${text.length}$`, 'm'));
        expect(response.slice(head.length + 4) === (i < 2 ? text : '')).to.equal(true);
      }
    });
  }
});
