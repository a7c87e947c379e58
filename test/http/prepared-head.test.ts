import { once } from 'node:events';
import { createServer } from 'node:http';
import type { RequestListener, Server, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { expect } from 'chai';
import { prepareHead } from '../../src/http/prepared-head.ts';
import { PreparedResponse } from '../../src/http/prepared-response.ts';

const PREPARED = ['X-One', '1', 'Cache-Control', 'no-store', 'X-Word', 'café'];
const OWN = ['X-Request-Id', 'abc'];

/** What the two servers do alike, given the headers that are not prepared. */
const ANSWERS: Readonly<Record<string, (response: ServerResponse, headers: string[]) => void>> = {
  'a body': (response, headers) => response.writeHead(200, [...headers, 'Content-Length', '4']).end('body'),
  'no body, 204': (response, headers) => response.writeHead(204, headers).end(),
  'no body, 304': (response, headers) => response.writeHead(304, headers).end(),
  'a body of unknown length': (response, headers) => {
    response.writeHead(200, headers);
    response.write('bo');
    response.end('dy');
  },
  'a connection that is to end': (response, headers) => {
    response.shouldKeepAlive = false;
    response.writeHead(200, [...headers, 'Content-Length', '4']).end('body');
  },
};

const REQUESTS = {
  'HTTP/1.1': 'GET / HTTP/1.1\r\nHost: a\r\n\r\n',
  'HTTP/1.1, HEAD': 'HEAD / HTTP/1.1\r\nHost: a\r\n\r\n',
  'HTTP/1.1, Connection: close': 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
  'HTTP/1.0': 'GET / HTTP/1.0\r\n\r\n',
  'HTTP/1.0, Connection: keep-alive': 'GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n',
  'Expect: 100-continue': 'GET / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n\r\n',
};

async function listening(server: Server): Promise<Server> {
  server.on('checkContinue', (request, response) => server.emit('request', request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

async function answerTo(server: Server, request: string): Promise<string> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.end(request);
  return (await readText(socket)).replace(/^Date: .+GMT\r$/m, 'Date: then\r');
}

describe('A response with prepared headers', () => {
  for (const [what, answer] of Object.entries(ANSWERS)) {
    it(`is byte for byte what Node makes of the same headers: ${what}`, async () => {
      const head = prepareHead(PREPARED);
      const plain: RequestListener = (_request, response) => {
        answer(response, [...PREPARED, ...OWN]);
      };
      const prepared: RequestListener<never, typeof PreparedResponse> = (_request, response) => {
        response.preparedHead = head;
        answer(response, [...OWN]);
      };
      const expected = await listening(createServer(plain));
      const server = await listening(createServer({ ServerResponse: PreparedResponse }, prepared));
      try {
        for (const [name, request] of Object.entries(REQUESTS)) {
          // Two at once on one connection, too.
          for (const sent of [request, request + request]) {
            const bytes = await answerTo(server, sent);
            expect(bytes, name).to.equal(await answerTo(expected, sent));
            expect(bytes, name).to.match(/^HTTP\/1\.1 \d+ [A-Za-z ]+\r\nX-One: 1\r\n/);
          }
        }
      } finally {
        server.close();
        expected.close();
      }
    });
  }
});

describe('prepareHead', () => {
  it('writes a line for each header', () => {
    expect(prepareHead(['A', 'b', 'C-D', '"e"; f'])).to.equal('A: b\r\nC-D: "e"; f\r\n');
    expect(prepareHead([])).to.equal('');
  });

  for (const headers of [
    ['A', 'b\r\nC: d'],
    ['A', 'b\n'],
    ['A', '\0'],
    ['A', '☃'],
    ['A b', 'c'],
    ['A:', 'c'],
    ['', 'c'],
    ['A\r\nB', 'c'],
    ['A', 'b', 'C', '\r'],
  ]) {
    it(`refuses ${JSON.stringify(headers)}`, () => {
      expect(() => prepareHead(headers)).to.throw(TypeError);
    });
  }
});
