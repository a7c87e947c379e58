import { once } from 'node:events';
import { connect } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setImmediate as turn } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import type { Express, Response } from 'express';
import { RequestMetrics } from '../../../src/counts/request-metrics.ts';
import { Compression } from '../../../src/http/response/compression.ts';
import { codingHeaders } from '../../../src/http/response/etag.ts';
import { send } from '../../../src/http/response/send.ts';
import { sendStream } from '../../../src/http/response/stream.ts';
import { type CodedResponse, decoded, requestCoded } from '../../support/coded-response.ts';
import { close, listen } from '../../support/serve.ts';
import { serverDependencies, serverWith } from '../../support/test-api.ts';

/** Lengths of bodies: too short to be compressed, compressed at once, in the thread pool, too long. */
const LENGTHS = { short: 1000, medium: 10_000, long: 120_000, huge: 10_000_000 } as const;
type Kind = keyof typeof LENGTHS;
const KINDS = Object.keys(LENGTHS) as Kind[];
const GZIP = { 'Accept-Encoding': 'gzip' };

/** Returns a body with few repetitions: digits of a linear congruential generator. */
function bodyOf(kind: string, name: string): Buffer {
  const body = Buffer.alloc(LENGTHS[kind as Kind]);
  let state = Number(name);
  for (let i = 0; i < body.length; i++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    body[i] = 0x30 + ((state >>> 16) % 10);
  }
  return body;
}

describe('A compressed response', () => {
  const metrics = new RequestMetrics();
  const dependencies = { ...serverDependencies(), metrics };
  const server = serverWith(addRoutes, dependencies);
  let compression: Compression;
  let answer: (send: () => void, response: Response) => void;
  let chunksOf: () => Iterable<Buffer>;
  let opened: (response: Response) => void;
  let thrown: unknown[];
  let port: number;
  let url: string;

  function addRoutes(app: Express): void {
    app.get('/:kind/:name', (request, response) => {
      const { kind, name } = request.params;
      const body = [bodyOf(kind, name)];
      const sendBody = () => {
        const coding = compression.codingFor(request, body);
        if (coding === undefined) send(response, 200, codingHeaders(coding, '"tag"'), body);
        else void compression.send(response, [], coding, '"tag"', body);
      };
      answer(sendBody, response);
    });

    app.get('/stream', (request, response) => {
      const coding = compression.codingFor(request, undefined);
      const compressor = coding && compression.compressorFor(response, coding);
      const headers = codingHeaders(coding, '"tag"');
      sendStream(response, headers, chunksOf, compressor).catch((error: unknown) => thrown.push(error));
      opened(response);
    });
  }

  before(async () => {
    port = await listen(server);
    url = `http://127.0.0.1:${port}`;
  });

  beforeEach(() => {
    compression = new Compression(true);
    answer = (send) => {
      send();
    };
    opened = () => undefined;
    thrown = [];
  });

  after(() => close(server));

  /** Answers requests in one turn of the event loop when all of them have arrived. */
  function answerTogether(count: number): void {
    const sends: (() => void)[] = [];
    answer = (send) => {
      sends.push(send);
      if (sends.length === count) for (const each of sends) each();
    };
  }

  const codingOf = ({ headers }: CodedResponse) => headers['content-encoding'];

  for (const kind of KINDS) {
    it(`has the bytes of a ${kind} body`, async () => {
      const response = await requestCoded(`${url}/${kind}/1`, GZIP);
      expect(codingOf(response)).to.equal(kind === 'short' || kind === 'huge' ? undefined : 'gzip');
      expect(response.headers['etag']).to.equal(codingOf(response) === 'gzip' ? '"tag.gzip"' : '"tag"');
      expect(response.headers['content-length']).to.equal(String(response.body.length));
      expect(decoded(response).equals(bodyOf(kind, '1'))).to.equal(true);
    });
  }

  it('has its place in the order of a pipeline, among plain ones and ones of the thread pool', async () => {
    const kinds = Array.from({ length: 24 }, (_, i) => KINDS[(i * 7) % 3]);
    const socket = connect(port, '127.0.0.1');
    const requests = kinds.map((kind, i) => {
      const accept = i % 4 === 0 ? '' : 'Accept-Encoding: gzip\r\n';
      return `GET /${kind}/${i} HTTP/1.1\r\nHost: a\r\n${accept}${i === 23 ? 'Connection: close\r\n' : ''}\r\n`;
    });
    socket.write(requests.join(''));
    let received = await buffer(socket);
    for (const [i, kind] of kinds.entries()) {
      const end = received.indexOf('\r\n\r\n') + 4;
      const head = received.toString('latin1', 0, end);
      const length = Number(/^Content-Length: (\d+)\r$/m.exec(head)?.[1]);
      const body = received.subarray(end, end + length);
      const isCoded = /^Content-Encoding: gzip\r$/m.test(head);
      expect(isCoded, `${i}: ${kind}`).to.equal(i % 4 !== 0 && kind !== 'short');
      expect((isCoded ? gunzipSync(body) : body).equals(bodyOf(kind, String(i))), `${i}: ${kind}`).to.equal(
        true,
      );
      received = received.subarray(end + length);
    }
    expect(received).to.have.length(0);
  });

  it('is plain, with the plain tag, while the thread pool is full', async () => {
    answerTogether(5);
    const responses = await Promise.all(
      KINDS.slice(1, 3)
        .concat(Array(3).fill('long'))
        .map((kind, i) => requestCoded(`${url}/${kind}/${i}`, GZIP)),
    );
    expect(responses.map(codingOf).sort()).to.deep.equal(['gzip', 'gzip', 'gzip', undefined, undefined]);
    for (const [i, response] of responses.entries()) {
      expect(response.headers['etag']).to.equal(codingOf(response) === 'gzip' ? '"tag.gzip"' : '"tag"');
      expect(decoded(response).equals(bodyOf(i === 0 ? 'medium' : 'long', String(i)))).to.equal(true);
    }
    answerTogether(2);
    const later = ['1', '2'].map((name) => requestCoded(`${url}/long/${name}`, GZIP));
    expect((await Promise.all(later)).map(codingOf)).to.deep.equal(['gzip', 'gzip']);
  });

  it('releases its place in the thread pool when its client disconnects', async () => {
    const left: Promise<unknown>[] = [];
    answer = (send, response) => {
      send();
      left.push(once(response, 'close'));
      response.socket?.destroy();
    };
    const requests = ['1', '2'].map((name) => requestCoded(`${url}/long/${name}`, GZIP));
    for (const { status } of await Promise.allSettled(requests)) expect(status).to.equal('rejected');
    await Promise.all(left);
    answer = (send) => {
      send();
    };
    let response;
    do response = await requestCoded(`${url}/long/1`, GZIP);
    while (codingOf(response) === undefined);
    expect(decoded(response).equals(bodyOf('long', '1'))).to.equal(true);
  });

  describe('as a stream', () => {
    const chunk = bodyOf('long', '1');

    it('has the bytes of its chunks', async () => {
      chunksOf = () => [chunk, chunk, chunk];
      const response = await requestCoded(`${url}/stream`, GZIP);
      expect(response.headers).to.include({ 'content-encoding': 'gzip', etag: '"tag.gzip"' });
      expect(decoded(response).equals(Buffer.concat([chunk, chunk, chunk]))).to.equal(true);
    });

    it('does not look complete when it breaks off', async () => {
      chunksOf = function* () {
        yield chunk;
        throw new Error('broken off');
      };
      const error: unknown = await requestCoded(`${url}/stream`, GZIP).catch((reason: unknown) => reason);
      expect(error).to.include({ code: 'ECONNRESET' });
    });

    it('ends without an error when its client leaves', async () => {
      chunksOf = function* () {
        for (;;) yield chunk;
      };
      for (const leave of ['destroy', 'resetAndDestroy'] as const) {
        const closed = new Promise((resolve) => (opened = (response) => response.on('close', resolve)));
        const socket = connect(port, '127.0.0.1');
        socket.write('GET /stream HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\n\r\n');
        await once(socket, 'data');
        socket[leave]();
        await closed;
      }
      await turn();
      expect(thrown).to.deep.equal([]);
    });

    it('is plain beside eight others that wait for their clients, until these have left', async () => {
      chunksOf = function* () {
        for (;;) yield chunk;
      };
      const closed: Promise<unknown>[] = [];
      opened = (response) => closed.push(once(response, 'close'));
      const sockets = await Promise.all(
        Array.from({ length: 8 }, async () => {
          const socket = connect(port, '127.0.0.1');
          socket.write('GET /stream HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\n\r\n');
          await once(socket, 'readable');
          return socket;
        }),
      );
      chunksOf = () => [chunk];
      expect(codingOf(await requestCoded(`${url}/stream`, GZIP))).to.equal(undefined);
      for (const socket of sockets) socket.destroy();
      await Promise.all(closed);
      expect(codingOf(await requestCoded(`${url}/stream`, GZIP))).to.equal('gzip');
    });
  });
});
