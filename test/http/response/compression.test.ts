import { once } from 'node:events';
import { expect } from 'chai';
import type { Express, Response } from 'express';
import { RequestMetrics } from '../../../src/counts/request-metrics.ts';
import { Compression } from '../../../src/http/response/compression.ts';
import { codingHeaders } from '../../../src/http/response/etag.ts';
import { send } from '../../../src/http/response/send.ts';
import { sendStream } from '../../../src/http/response/stream.ts';
import { type CodedResponse, decoded, requestCoded } from '../../support/coded-response.ts';
import { eventually } from '../../support/eventually.ts';
import { RawClient } from '../../support/raw-client.ts';
import { responsesIn } from '../../support/raw-responses.ts';
import { close, listen } from '../../support/serve.ts';
import { serverDependencies, serverWith } from '../../support/test-api.ts';

/** Lengths of bodies: too short to be compressed, compressed at once, in the thread pool, one at a time, too long. */
const LENGTHS = { short: 1000, medium: 10_000, long: 120_000, longer: 1_000_000, huge: 10_000_000 } as const;
type Kind = keyof typeof LENGTHS;
const KINDS = Object.keys(LENGTHS) as Kind[];
const GZIP = { 'Accept-Encoding': 'gzip' };

/** Returns a body with few repetitions: a brace, and digits of a linear congruential generator. */
function bodyOf(kind: string, name: string): Buffer {
  const body = Buffer.alloc(LENGTHS[kind as Kind], '{');
  let state = Number(name);
  for (let i = 1; i < body.length; i++) {
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
  let streamsEnded: number;
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

    app.get('/stream-of-:length', (request, response, next) => {
      const chunks = Array<Buffer>(Number(request.params.length)).fill(bodyOf('long', '1'));
      const coding = compression.codingFor(request, undefined);
      const compressor = coding && compression.compressorFor(response, coding);
      response.on('close', () => streamsEnded++);
      sendStream(response, codingHeaders(coding, '"tag"'), () => chunks, compressor).catch(next);
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
    streamsEnded = 0;
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
    const client = new RawClient(port);
    const requests = kinds.map((kind, i) => {
      const accept = i % 4 === 0 ? '' : 'Accept-Encoding: gzip\r\n';
      return `GET /${kind}/${i} HTTP/1.1\r\nHost: a\r\n${accept}${i === 23 ? 'Connection: close\r\n' : ''}\r\n`;
    });
    client.socket.write(requests.join(''));
    await client.ended;
    const responses = responsesIn(client.received);
    expect(responses).to.have.length(kinds.length);
    for (const [i, { headers, text }] of responses.entries()) {
      const isCoded = i % 4 !== 0 && kinds[i] !== 'short';
      expect(headers['content-encoding'], `${i}: ${kinds[i]}`).to.equal(isCoded ? 'gzip' : undefined);
      expect(text === String(bodyOf(kinds[i], String(i))), `${i}: ${kinds[i]}`).to.equal(true);
    }
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

  it('is plain besides another one of over 256 kB in the thread pool if it is as long, and no other', async () => {
    answerTogether(4);
    const responses = await Promise.all(
      ['/longer/1', '/longer/2', '/long/1', '/long/2'].map((path) => requestCoded(url + path, GZIP)),
    );
    const codings = responses.map(codingOf);
    expect(codings.slice(0, 2)).to.have.members(['gzip', undefined]);
    expect(codings.slice(2)).to.deep.equal(['gzip', 'gzip']);
  });

  it('of a stream is plain besides eight others that wait for their clients, until these have left', async () => {
    const clients = await Promise.all(
      Array.from({ length: 8 }, async (_, i) => {
        const { socket } = new RawClient(port);
        const coding = i % 2 === 0 ? 'gzip' : 'zstd';
        socket.write(`GET /stream-of-1000 HTTP/1.1\r\nHost: a\r\nAccept-Encoding: ${coding}\r\n\r\n`);
        const [head] = (await once(socket, 'data')) as [string];
        expect(head).to.include(`Content-Encoding: ${coding}`);
        return socket.pause();
      }),
    );
    expect(codingOf(await requestCoded(`${url}/stream-of-1`, GZIP))).to.equal(undefined);
    // Such streams do not keep other responses from being compressed.
    for (const kind of ['long', 'longer'])
      expect(codingOf(await requestCoded(`${url}/${kind}/1`, GZIP)), kind).to.equal('gzip');
    for (const socket of clients) socket.destroy();
    await eventually(() => streamsEnded === 9);
    expect(codingOf(await requestCoded(`${url}/stream-of-1`, GZIP))).to.equal('gzip');
  });
});
