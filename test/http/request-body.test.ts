import { once } from 'node:events';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { expect } from 'chai';
import { send } from '../../src/http/response/send.ts';
import { RawClient } from '../support/raw-client.ts';
import { close, listen } from '../support/serve.ts';
import { serverDependencies, serverWith } from '../support/test-api.ts';

const GIGABYTE = 1e9;
/** Bound of the bytes that the server may read of any body. */
const MAX_READ = 256 * 1024;

describe('A request with a body', () => {
  let server: Server;
  let port: number;
  /** The connections of the server, by the client's port. */
  const accepted = new Map<number | undefined, Socket>();

  before(async () => {
    server = serverWith((app) => {
      app.use((_request, response) => {
        send(response, 200, [], ['{}']);
      });
    }, serverDependencies());
    server.on('connection', (socket: Socket) => accepted.set(socket.remotePort, socket));
    port = await listen(server);
  });
  after(() => close(server));

  const head = (lines: string, method = 'GET') => `${method} /1 HTTP/1.1\r\nHost: a\r\n${lines}\r\n\r\n`;
  const NEXT = 'GET /2 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';

  /** Sends bytes, and returns the statuses of all responses until the server closes the connection. */
  async function statusesOf(bytes: string): Promise<number[]> {
    const client = new RawClient(port);
    client.socket.write(bytes);
    await client.ended;
    return Array.from(client.received.matchAll(/HTTP\/1.1 (\d+) /g), ([, status]) => Number(status));
  }

  const CHUNKED = 'Transfer-Encoding: chunked';
  const cases: [headers: string, body: string, ...statuses: number[]][] = [
    ['Content-Length: 1', `x${NEXT}`, 200, 200],
    ['Content-Length: 65536', 'x'.repeat(65_536) + NEXT, 200, 200],
    ['Content-Length: 65537', '', 413],
    // The server asks for no body that the client waits to send.
    ['Content-Length: 5\r\nExpect: 100-continue', '', 200],
    ['Content-Length: 65537\r\nExpect: 100-continue', '', 413],
    ['Content-Length: 5\r\nContent-Length: 6', 'abcde', 400],
    [CHUNKED, '2\r\nab\r\n0\r\n\r\n', 413],
    [CHUNKED, `0\r\n\r\n${NEXT}`, 413],
    [CHUNKED, 'zz\r\n', 413],
    [CHUNKED, '2\r\nab\r\nzz\r\n', 413],
    [CHUNKED, `2;${'x'.repeat(20_000)}\r\nab\r\n`, 413],
    ['Transfer-Encoding: gzip , Chunked', '0\r\n\r\n', 413],
    ['Transfer-Encoding: xchunked', '0\r\n\r\n', 400],
    [`${CHUNKED}, x`, '0\r\n\r\n', 400],
    [`${CHUNKED}\r\nContent-Length: 5`, '0\r\n\r\n', 400],
    ['Content-Length: 1', `a${head(CHUNKED)}zz\r\n`, 200, 413],
    ['X: y', head('Transfer-Encoding: x'), 200, 400],
  ];
  describe('gets these responses, and the last one closes the connection:', () => {
    // All at once, since some connections close only after a time.
    let responses: Promise<number[]>[];
    before(() => {
      responses = cases.map(([headers, body]) => statusesOf(head(headers) + body));
    });
    for (const [i, [headers, body, ...statuses]] of cases.entries()) {
      it(`${statuses.join(' and ')} for ${JSON.stringify([headers, body.slice(0, 40)])}`, async () => {
        expect(await responses[i]).to.deep.equal(statuses);
      });
    }
  });

  it('that is incomplete gets one response', async () => {
    const client = new RawClient(port);
    client.socket.end(head('Content-Length: 5') + 'ab');
    await client.ended;
    expect(client.received.match(/HTTP\/1.1 /g)).to.have.length(1);
  });

  for (const [title, lines] of [
    ['with its length', `Content-Length: ${GIGABYTE}`],
    ['in chunks', 'Transfer-Encoding: chunked'],
    ['in an unknown coding', 'Transfer-Encoding: xchunked'],
  ]) {
    it(`of 1 GB is refused and not read to its end, ${title}`, async () => {
      const refused = async (method: string) => {
        const client = new RawClient(port);
        const { socket } = client;
        await once(socket, 'connect');
        const { localPort } = socket;
        socket.write(head(lines, method));
        const chunk = Buffer.from(`10000\r\n${'x'.repeat(0x10000)}\r\n`);
        const fill = () => {
          while (socket.writable && socket.write(chunk));
        };
        socket.on('drain', fill);
        fill();
        await client.ended;
        const { received } = client;
        expect(received).to.match(/^HTTP\/1.1 (400|413) /);
        expect(received).to.include('Connection: close').and.to.include('\r\n\r\n');
        expect(received.endsWith('send no body."}')).to.equal(method !== 'HEAD');
        expect(accepted.get(localPort)?.bytesRead, method).to.be.at.most(MAX_READ);
      };
      await Promise.all(['GET', 'HEAD', 'POST'].map(refused));
    });
  }
});
