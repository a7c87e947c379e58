import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { expect } from 'chai';
import { prepareHead } from '../../src/http/prepared-head.ts';
import type { PreparedHead } from '../../src/http/prepared-head.ts';
import { sliceOf, viewOf } from '../../src/store/slice.ts';
import { PreparedResponse } from '../../src/http/prepared-response.ts';
import type { Body } from '../../src/http/prepared-response.ts';

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

  describe('sends a body of pieces', () => {
    const inShared = (length: number, fill: string) =>
      sliceOf(Buffer.from(new SharedArrayBuffer(length)).fill(fill));
    const BODIES: Readonly<Record<string, Body>> = {
      'one small': ['{}'],
      'texts and bytes in turn': ['[', inShared(1000, 'a'), ',', sliceOf(Buffer.from('é')), ']'],
      'none of any length': ['', sliceOf(Buffer.alloc(0))],
      'a long run between texts': ['[', inShared(200_000, 'b'), ']'],
      'many long ones': Array.from({ length: 90 }, (_, i) => inShared(10_000, String(i % 10))),
    };
    const HEADS = {
      short: prepareHead(PREPARED),
      'too long to go with it': prepareHead(['X-Long', 'x'.repeat(9000)]),
    };
    const bytesOf = (body: Body) =>
      Buffer.concat(body.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : viewOf(piece))));

    for (const [what, body] of Object.entries(BODIES)) {
      for (const [kind, head] of Object.entries(HEADS)) {
        it(`as Node sends it in one: ${what}, with a head that is ${kind}`, async () => {
          const length = bytesOf(body).length;
          const { server, other } = await bothServers(head, {
            inPieces: (response) => {
              response.endWith(body, length);
            },
            inOne: (response) => response.end(bytesOf(body)),
            length,
          });
          try {
            const request = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
            for (const times of [1, 3]) {
              const bytes = await answerTo(server, request.repeat(times));
              expect(bytes === (await answerTo(other, request.repeat(times))), bytes.slice(0, 1000)).to.equal(
                true,
              );
            }
          } finally {
            server.close();
            other.close();
          }
        });
      }
    }

    it('not where the status forbids one', async () => {
      const server = await listening(
        createServer({ ServerResponse: PreparedResponse }, (_request, response) => {
          response.writeHead(204);
          response.endWith(['body'], 4);
        }),
      );
      try {
        expect(await answerTo(server, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n')).to.match(
          /^HTTP\/1.1 204 [^]*\r\n\r\n$/,
        );
      } finally {
        server.close();
      }
    });

    it('without more memory than they have bytes, when they wait in line', async () => {
      const ASKED = 1000;
      let first: (() => void) | undefined;
      let waiting = 0;
      const server = await listening(
        createServer({ ServerResponse: PreparedResponse }, (_request, response) => {
          const answer = () => {
            response.writeHead(200, ['Content-Length', '4']);
            response.endWith(['body'], 4);
          };
          if (first === undefined) first = answer;
          else {
            answer();
            if (++waiting === ASKED - 1) server.emit('all wait');
          }
        }),
      );
      try {
        const before = process.memoryUsage().arrayBuffers;
        const all = once(server, 'all wait');
        const text = answerTo(server, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(ASKED));
        await all;
        expect(process.memoryUsage().arrayBuffers - before).to.be.below(8 * 1024 * 1024);
        first?.();
        expect((await text).split('HTTP/1.1 200').length - 1).to.equal(ASKED);
      } finally {
        server.close();
      }
    });

    it('whole to those who read slowly, and to those who come meanwhile', async () => {
      const body = [
        '[',
        ...Array.from({ length: 40 }, (_, i) => inShared(5000, String.fromCharCode(97 + (i % 26)))),
        ']',
      ];
      const { length } = bytesOf(body);
      const { server, other } = await bothServers(prepareHead([]), {
        inPieces: (response, request) => {
          // Each answer of its own: what is sent later must not show in what was sent before.
          const mark = (request.url ?? '').padEnd(20);
          response.endWith([mark, ...body], length + mark.length);
        },
        inOne: (response) => response.end(),
        length: length + 20,
      });
      other.close();
      const { port } = server.address() as AddressInfo;
      try {
        const slow = connect(port, '127.0.0.1').pause();
        const ASKED = 60;
        slow.end(
          Array.from({ length: ASKED }, (_, i) => `GET /slow/${i} HTTP/1.1\r\nHost: a\r\n\r\n`).join(''),
        );
        await once(slow, 'connect');
        for (let i = 0; i < 20; i++) {
          const text = await (await fetch(`http://127.0.0.1:${port}/quick/${i}`)).text();
          expect(text === `/quick/${i}`.padEnd(20) + String(bytesOf(body))).to.equal(true);
        }
        const answers = (await readText(slow)).split('HTTP/1.1 200 OK').slice(1);
        expect(answers).to.have.length(ASKED);
        for (const [i, answer] of answers.entries()) {
          expect(answer.endsWith(`/slow/${i}`.padEnd(20) + String(bytesOf(body))), String(i)).to.equal(true);
        }
      } finally {
        server.close();
      }
    });
  });
});

interface Answering {
  readonly inPieces: (response: InstanceType<typeof PreparedResponse>, request: IncomingMessage) => void;
  readonly inOne: (response: ServerResponse) => void;
  /** Of the body. */
  readonly length: number;
}

/** A server that sends a body in pieces, and one that does what Node does, with the same headers. */
async function bothServers(
  head: PreparedHead,
  { inPieces, inOne, length }: Answering,
): Promise<{ server: Server; other: Server }> {
  const own = ['Content-Length', String(length)];
  const prepared: RequestListener<typeof IncomingMessage, typeof PreparedResponse> = (request, response) => {
    response.preparedHead = head;
    response.writeHead(200, own);
    inPieces(response, request);
  };
  const names = head
    .split('\r\n')
    .slice(0, -1)
    .flatMap((line) => line.split(/: (.*)/, 2));
  const plain: RequestListener = (_request, response) => {
    response.writeHead(200, [...names, ...own]);
    inOne(response);
  };
  return {
    server: await listening(createServer({ ServerResponse: PreparedResponse }, prepared)),
    other: await listening(createServer(plain)),
  };
}
