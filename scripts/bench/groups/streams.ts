import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { MEGABYTE } from '../../../src/store/memory/shared-arrays.ts';
import type { BenchContext } from '../bench-context.ts';
import { LoadGenerator } from '../load/load-generator.ts';
import { MIXED_TRAFFIC, mixedTargets } from '../load/request-kinds.ts';
import { requestBytes, type Traffic } from '../load/traffic.ts';
import { format, median, ratioRow, type Row } from '../rows.ts';

const ALL_TICKETS = {
  path: '/v1/tickets',
  headers: { accept: 'application/x-ndjson', connection: 'close' },
};
/** Length of the chunks of the bare server, as of Foyer. */
const CHUNK_BYTES = 128 * 1024;
/** Streams that a key may have at a time. */
const STREAMS = 2;
/** Low, so that the streams use the rest of the thread's time. */
const SHARE_OF_PEAK = 0.1;
const CONNECTIONS = 16;

/** Measures the bytes a second of a stream, and the response times of other requests during them. */
export async function measureStreams(context: BenchContext): Promise<Row[]> {
  const { signal } = context.options;
  const { seconds, tickets } = context.options.sizes;
  await using foyer = await context.startReplica();
  const stream = foyer.traffic([ALL_TICKETS]);
  context.options.showProgress('streams: bytes of the bare server');
  await using bare = await context.startBare({ traffic: stream, chunkBytes: CHUNK_BYTES });
  const rateOf = async (traffic: Traffic): Promise<number> => {
    using reader = new StreamReader(traffic, 1);
    await pause(seconds * 1000, undefined, { signal });
    return reader.megabytesPerSecond;
  };
  const rates = await context.rounds(
    'streams',
    async () => [await rateOf(stream), await rateOf(bare.traffic([ALL_TICKETS]))] as const,
  );

  await using generator = new LoadGenerator(signal);
  const traffic = foyer.traffic(mixedTargets(await context.snapshot()));
  const peak = await generator.measurePeak(foyer, traffic, seconds);
  const perSecond = Math.round(peak.perSecond * SHARE_OF_PEAK);
  const p99 = async () =>
    (await generator.measure({ ...traffic, perSecond, connections: CONNECTIONS }, seconds)).p99Ms;
  const during = await context.rounds('requests during streams', async () => {
    const alone = await p99();
    using reader = new StreamReader(stream, STREAMS);
    return { pair: [await p99(), alone] as const, rate: reader.megabytesPerSecond };
  });
  return [
    ratioRow({
      name: `bytes a second of a stream of ${tickets} tickets, against bare`,
      note: 'read by one client on this machine',
      unit: 'MB/s',
      reach: { atLeast: 0.5 },
      pairs: rates,
    }),
    ratioRow({
      name: 'request p99 during two streams',
      note:
        `the latter without streams; ${perSecond} requests a second for ${MIXED_TRAFFIC}; the streams are read at ` +
        format(median(during.map(({ rate }) => rate)), 'MB/s'),
      unit: 'ms',
      reach: { atMost: 2 },
      pairs: during.map(({ pair }) => pair),
    }),
  ];
}

/** Reads streams as fast as possible, each over a connection of its own, and restarts each when it ends. */
class StreamReader implements Disposable {
  readonly #traffic: Traffic;
  readonly #startedAt = performance.now();
  #bytes = 0;
  #isStopped = false;

  constructor(traffic: Traffic, streams: number) {
    this.#traffic = traffic;
    for (let i = 0; i < streams; i++) this.#read();
  }

  /** Since the start, heads and chunks included. */
  get megabytesPerSecond(): number {
    return this.#bytes / MEGABYTE / ((performance.now() - this.#startedAt) / 1000);
  }

  [Symbol.dispose](): void {
    this.#isStopped = true;
  }

  #read(): void {
    const { port, targets } = this.#traffic;
    const callback = (bytes: number) => {
      this.#bytes += bytes;
      if (this.#isStopped) socket.destroy();
      return true;
    };
    // One buffer for all reads: the content does not matter.
    const onread = { buffer: Buffer.alloc(MEGABYTE), callback };
    const socket = connect({ port, host: '127.0.0.1', onread });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      if (!this.#isStopped) this.#read();
    });
    socket.write(requestBytes(this.#traffic, targets[0]));
  }
}
