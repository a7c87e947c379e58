import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { expect } from 'chai';
import express from 'express';
import { type Body, NO_STORE, send } from '../../../src/http/response/send.ts';
import { servesForEach } from '../../support/serve.ts';
import { contextOf } from '../../support/test-api.ts';

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
  let bodyOf: (url: string) => Body;

  beforeEach(async () => {
    const app = express();
    app.use((request, response) => {
      response.locals.context = contextOf(request);
      send(response, 200, NO_STORE, bodyOf(request.url));
    });
    port = await serve(createServer(app));
  });

  /** Returns all bytes received for some requests on one connection, as latin1. */
  async function answersTo(requests: string): Promise<string> {
    const socket = connect(port, '127.0.0.1').setEncoding('latin1');
    socket.end(requests);
    return await readText(socket);
  }

  for (const [what, body] of Object.entries(BODIES)) {
    it(`has all pieces of its body, and its length: ${what}`, async () => {
      bodyOf = () => body;
      const bytes = bytesOf(body);
      for (const times of [1, 3]) {
        const text = await answersTo('GET / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(times));
        const responses = text.split('HTTP/1.1 200 OK\r\n').slice(1);
        expect(responses).to.have.length(times);
        for (const response of responses) {
          const [head] = response.split('\r\n\r\n', 1);
          expect(head).to.match(new RegExp(`^Content-Length: ${bytes.length}$`, 'm'));
          expect(response.slice(head.length + 4) === bytes.toString('latin1')).to.equal(true);
        }
      }
    });

    it(`has the length without the body for HEAD: ${what}`, async () => {
      bodyOf = () => body;
      const text = await answersTo('HEAD / HTTP/1.1\r\nHost: a\r\n\r\n');
      expect(text).to.match(new RegExp(`^Content-Length: ${bytesOf(body).length}$`, 'm'));
      expect(text).to.match(/\r\n\r\n$/);
    });
  }

  it('reaches slow readers whole, and others meanwhile', async () => {
    const pieces = Array.from({ length: 40 }, (_, i) => inShared(5000, String.fromCharCode(97 + (i % 26))));
    const whole = String(bytesOf(pieces));
    // Different bodies: a later response must not appear in an earlier one.
    bodyOf = (url) => [url.padEnd(20), ...pieces];
    const slow = connect(port, '127.0.0.1').pause();
    const count = 60;
    slow.end(Array.from({ length: count }, (_, i) => `GET /slow/${i} HTTP/1.1\r\nHost: a\r\n\r\n`).join(''));
    await once(slow, 'connect');
    for (let i = 0; i < 20; i++) {
      const text = await (await fetch(`http://127.0.0.1:${port}/quick/${i}`)).text();
      expect(text === `/quick/${i}`.padEnd(20) + whole).to.equal(true);
    }
    const responses = (await readText(slow)).split('HTTP/1.1 200 OK').slice(1);
    expect(responses).to.have.length(count);
    for (const [i, response] of responses.entries()) {
      expect(response.endsWith(`/slow/${i}`.padEnd(20) + whole), String(i)).to.equal(true);
    }
  });
});
