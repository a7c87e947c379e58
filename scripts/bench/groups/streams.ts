import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type BenchContext, shapeOf } from '../bench-context.ts';
import { format, median, type Row, rowOf } from '../figures.ts';
import { captureResponses, writeResponses } from '../load/http-client.ts';
import { PeakMeter, SteadyMeter } from '../load/meters.ts';
import type { SteadyReport } from '../load/steady-load.ts';
import type { StreamCommand, StreamReport } from '../load/stream-load.ts';
import { type Target, TICKET_TRAFFIC, ticketTargets } from '../load/traffic.ts';
import { Child } from '../servers/child.ts';
import { ComparisonServer } from '../servers/comparison-server.ts';
import { ReplicaProcess } from '../servers/replica-process.ts';
import { SnapshotContent } from '../snapshot-content.ts';
import { MEGABYTE } from '../../../src/store/memory/shared-arrays.ts';

const STREAM_LOAD = new URL('../load/stream-load.ts', import.meta.url);
const ALL_TICKETS: Target = { path: '/v1/tickets', headers: { accept: 'application/x-ndjson' } };
/** Length of the chunks of the bare server, as of Foyer. */
const CHUNK_BYTES = 128 * 1024;
/** Streams that a key may have at a time. */
const STREAMS = 2;
/** Low, so that the streams use the rest of the thread's time. */
const SHARE_OF_PEAK = 0.1;
const CONNECTIONS = 16;
/** Length of the start of a load, which is not measured. */
const START_MS = 300;

/** Measures the bytes a second of a stream, and the response times of other requests beside streams. */
export async function measureStreams(context: BenchContext): Promise<Row[]> {
  const { signal, folder, showProgress } = context;
  const { rounds, seconds, tickets } = context.sizes;
  const snapshot = await context.snapshot(shapeOf(tickets));
  const files = context.replicaFiles(snapshot);
  await using foyer = await ReplicaProcess.start(files, {}, signal);
  using content = new SnapshotContent(snapshot);
  const traffic = foyer.traffic(ticketTargets(content));
  const { credential } = traffic;
  await using reader = new Child<StreamCommand, StreamReport>(STREAM_LOAD, signal);

  const read = async (port: number, streams: number, meanwhile: () => Promise<unknown>) => {
    await reader.call({ start: { port, credential, target: ALL_TICKETS, streams } });
    await meanwhile();
    return await reader.call('stop');
  };
  const perSecond = async ({ port }: { readonly port: number }) => {
    const report = await read(port, 1, () => pause(seconds * 1000, undefined, { signal }));
    return report.bytes / report.seconds / MEGABYTE;
  };

  const rates: { foyer: number; bare: number }[] = [];
  {
    showProgress('streams: bytes of the bare server');
    const responses = join(folder, 'stream-responses');
    writeResponses(responses, await captureResponses({ ...traffic, targets: [ALL_TICKETS] }));
    await using bare = await ComparisonServer.bare('node', responses, signal, 0, CHUNK_BYTES);
    for (let round = 0; round <= rounds; round++) {
      showProgress(`streams: round ${round} of ${rounds}`);
      const rate = { foyer: await perSecond(foyer), bare: await perSecond(bare) };
      // Round 0 is the warm-up.
      if (round > 0) rates.push(rate);
    }
  }

  await using meter = new PeakMeter(signal);
  const peak = await meter.measure({ traffic, server: foyer }, seconds);
  const load = {
    ...traffic,
    perSecond: Math.round(peak.perSecond * SHARE_OF_PEAK),
    connections: CONNECTIONS,
  };
  await using steady = new SteadyMeter(signal);
  const measure = async (): Promise<SteadyReport> => {
    await steady.start(load);
    await pause(START_MS, undefined, { signal });
    await steady.report();
    await pause(seconds * 1000, undefined, { signal });
    return await steady.stop();
  };
  const pairs: { beside: SteadyReport; alone: SteadyReport; read: number }[] = [];
  for (let round = 1; round <= rounds; round++) {
    showProgress(`requests beside streams: round ${round} of ${rounds}`);
    const alone = await measure();
    let beside = alone;
    const report = await read(foyer.port, STREAMS, async () => {
      beside = await measure();
    });
    pairs.push({ alone, beside, read: report.bytes / report.seconds / MEGABYTE });
  }

  const rateOf = (server: 'foyer' | 'bare') => Math.round(median(rates.map((rate) => rate[server])));
  const p99 = (series: 'alone' | 'beside') => format(median(pairs.map((pair) => pair[series].p99Ms)), 'ms');
  return [
    rowOf({
      name: `bytes a second of a stream of ${tickets} tickets, against bare`,
      note: `${rateOf('foyer')} against ${rateOf('bare')} MB a second, read by one client on this machine`,
      unit: 'times',
      reach: { atLeast: 0.5 },
      rounds: rates.map(({ foyer, bare }) => foyer / bare),
      summarize: median,
    }),
    rowOf({
      name: 'request p99 beside two streams',
      note:
        `against the same load without: ${p99('beside')} against ${p99('alone')}; ${load.perSecond} requests a second for ` +
        `${TICKET_TRAFFIC}; the streams are read at ${Math.round(median(pairs.map(({ read }) => read)))} MB a second`,
      unit: 'times',
      reach: { atMost: 2 },
      rounds: pairs.map(({ alone, beside }) => beside.p99Ms / alone.p99Ms),
      summarize: median,
    }),
  ];
}
