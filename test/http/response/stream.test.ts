import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import type { Express } from 'express';
import { type OpenCounts, UNSENT_KB } from '../../../src/counts/open-counts.ts';
import { Compression } from '../../../src/http/response/compression.ts';
import { sendStream } from '../../../src/http/response/stream.ts';
import { sumMetrics, RequestMetrics } from '../../../src/counts/request-metrics.ts';
import type { Dependencies } from '../../../src/http/app.ts';
import { eventually } from '../../support/eventually.ts';
import { RawClient } from '../../support/raw-client.ts';
import { readableLog, type ReadableLog } from '../../support/readable-log.ts';
import { close, listen } from '../../support/serve.ts';
import { serverDependencies, serverWith } from '../../support/test-api.ts';

const CHUNK = Buffer.alloc(128 * 1024, 'x');
/** More than the buffers of both sockets hold. */
const FAR = 400;
const REQUEST = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';
const LAST_CHUNK = /\r\n0\r\n\r\n$/;

/** A source of chunks that counts those that were taken. */
class Source {
  taken = 0;
  isClosed = false;
  /** Turns of the event loop in which a chunk was taken. */
  readonly turns: number[] = [];
  readonly #length: number;
  readonly #error: Error | undefined;

  constructor(length: number, error?: Error) {
    this.#length = length;
    this.#error = error;
  }

  *chunks(): Generator<Buffer> {
    try {
      while (this.taken < this.#length) {
        this.taken++;
        this.turns.push(performance.nodeTiming.uvMetricsInfo.loopCount);
        yield CHUNK;
      }
      if (this.#error !== undefined) throw this.#error;
    } finally {
      this.isClosed = true;
    }
  }
}

describe('A stream', () => {
  const cleanup: (() => unknown)[] = [];
  afterEach(async () => {
    for (const clean of cleanup.splice(0)) await clean();
  });

  let metrics: RequestMetrics;
  let counts: OpenCounts;
  let logged: ReadableLog['lines'];
  let thrown: unknown[];

  /** Starts a server whose responses are these sources, one after the other. Returns its port. */
  async function serve(
    sources: readonly Source[],
    config: Partial<Dependencies['config']> = {},
  ): Promise<number> {
    const compression = new Compression(true);
    const left = [...sources];
    metrics = new RequestMetrics();
    thrown = [];
    const addRoutes = (app: Express) => {
      app.use((request, response) => {
        const source = left.shift() ?? new Source(0);
        const chunks = () => source.chunks();
        const coding = compression.codingFor(request, undefined);
        const compressor = coding && compression.compressorFor(response, coding);
        sendStream(response, [], chunks, compressor).catch((error: unknown) => thrown.push(error));
      });
    };
    const { log, lines } = readableLog();
    logged = lines;
    const defaults = serverDependencies(log);
    counts = defaults.counts;
    const server = serverWith(addRoutes, {
      ...defaults,
      metrics,
      config: { ...defaults.config, ...config },
    });
    cleanup.push(async () => {
      await close(server);
      await eventually(() => counts.inAll(UNSENT_KB) === 0);
    });
    return listen(server);
  }

  /** Requests a stream, and does not read it until it stalls. */
  async function stall(port: number, source: Source): Promise<RawClient> {
    const client = open(port);
    client.socket.pause();
    let before = -1;
    while (source.taken === 0 || source.taken > before) {
      before = source.taken;
      await delay(50);
    }
    return client;
  }

  function open(port: number, coding = 'identity'): RawClient {
    const client = new RawClient(port);
    cleanup.push(() => client.socket.destroy());
    client.socket.write(`GET / HTTP/1.1\r\nHost: x\r\nAccept-Encoding: ${coding}\r\n\r\n`);
    return client;
  }

  const endsIn = (counted: RequestMetrics) => Object.fromEntries(sumMetrics([counted]).ends);

  it('whose client does not read takes no more chunks than its connection holds', async () => {
    const source = new Source(FAR);
    const { socket } = await stall(await serve([source]), source);
    expect(source.taken).to.be.below(FAR / 2);
    expect(counts.inAll(UNSENT_KB) * 1024)
      .to.be.greaterThan(0)
      .and.at.most(CHUNK.length + 1024);
    socket.resume();
    await eventually(() => source.taken === FAR);
    await eventually(() => counts.inAll(UNSENT_KB) === 0);
  });

  it('without progress ends, though earlier bytes were read', async () => {
    const source = new Source(FAR);
    const client = await stall(await serve([source], { writeTimeoutSeconds: 0.3 }), source);
    await eventually(() => source.isClosed);
    expect(endsIn(metrics)).to.include({ 'no-progress': 1 });
    expect(await textOf(client)).not.to.match(LAST_CHUNK);
    expect(thrown).to.deep.equal([]);
  });

  it('is not the slowest while it makes progress', async () => {
    const [read, stalled] = [new Source(Infinity), new Source(FAR)];
    const port = await serve([read, stalled], { maxUnsentMb: 0.2 });
    open(port);
    await eventually(() => read.taken > 0);
    open(port).socket.pause();
    await eventually(() => stalled.isClosed || read.isClosed);
    expect([stalled.isClosed, read.isClosed]).to.deep.equal([true, false]);
    expect(endsIn(metrics)).to.include({ 'unsent-bytes': 1 });
  });

  it('counts from its first byte, so that any number of them is bounded', async () => {
    const sources = Array.from({ length: 40 }, () => new Source(FAR));
    const port = await serve(sources, { maxUnsentMb: 0.5 });
    sources.forEach(() => open(port).socket.pause());
    await eventually(() => sources.filter(({ isClosed }) => isClosed).length >= 36);
    expect(counts.inAll(UNSENT_KB)).to.be.within(1, 512);
    expect(endsIn(metrics)['unsent-bytes']).to.be.at.least(36);
  });

  for (const coding of ['identity', 'gzip']) {
    for (const leave of ['destroy', 'resetAndDestroy'] as const) {
      it(`in ${coding} stops without an error when its client leaves: ${leave}`, async () => {
        const source = new Source(Infinity);
        const { socket } = open(await serve([source]), coding);
        await once(socket, 'data');
        socket[leave]();
        await eventually(() => source.isClosed && logged.length === 1);
        expect(logged[0]).to.include({ sent: false });
        expect(thrown).to.deep.equal([]);
      });
    }

    it(`in ${coding} that fails closes its connection, so that it does not look complete`, async () => {
      const error = new Error('broken');
      const received = await textOf(open(await serve([new Source(3, error)]), coding));
      expect(received).not.to.match(LAST_CHUNK);
      expect(thrown).to.deep.equal([error]);
    });
  }

  it('shares its turns of the event loop with no other stream, and the next request waits for its end', async () => {
    const sources = [new Source(50), new Source(50), new Source(50)];
    const port = await serve(sources);
    for (let i = 0; i < 2; i++) open(port);
    const pipelined = open(port);
    pipelined.socket.write(REQUEST);
    await eventually(() => logged.length === 4);
    const turns = sources.flatMap((source) => source.turns.slice(1));
    expect(new Set(turns).size).to.equal(turns.length);
    pipelined.socket.end();
    expect((await textOf(pipelined)).match(/\r\n0\r\n\r\n/g)).to.have.length(2);
  });
});

/** Returns all that a client receives. */
async function textOf(client: RawClient): Promise<string> {
  client.socket.resume();
  await client.ended;
  return client.received;
}
