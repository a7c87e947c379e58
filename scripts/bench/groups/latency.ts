import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Refused } from '../../run-command.ts';
import { type BenchContext, shapeOf } from '../bench-context.ts';
import { format, median, type Row, rowOf } from '../figures.ts';
import { captureResponses, writeResponses } from '../load/http-client.ts';
import { CONNECTIONS, PeakMeter, SteadyMeter } from '../load/meters.ts';
import type { SteadyReport } from '../load/steady-load.ts';
import { TICKET_TRAFFIC, ticketTargets, type Traffic } from '../load/traffic.ts';
import { ComparisonServer } from '../servers/comparison-server.ts';
import { ReplicaProcess } from '../servers/replica-process.ts';
import { SnapshotContent } from '../snapshot-content.ts';

const SHARE_OF_PEAK = 0.7;
/** Length of the burst of connections at the start of a load, which is not measured. */
const BURST_MS = 300;

/** Measures response times below the peak, compared with the bare server at the same rate. */
export async function measureLatency(context: BenchContext): Promise<Row[]> {
  const { signal } = context;
  const { rounds, seconds } = context.sizes;
  const snapshot = await context.snapshot(shapeOf(context.sizes.tickets));
  const files = context.replicaFiles(snapshot);
  await using foyer = await ReplicaProcess.start(files, {}, signal);
  using content = new SnapshotContent(snapshot);
  const toFoyer = foyer.traffic(ticketTargets(content));
  const responses = join(context.folder, 'ticket-responses');
  writeResponses(responses, await captureResponses(toFoyer));
  await using bare = await ComparisonServer.bare('node', responses, signal);
  const toBare: Traffic = { ...toFoyer, port: bare.port };

  context.showProgress('latency: peak');
  await using meter = new PeakMeter(signal);
  const peaks: number[] = [];
  for (let i = 0; i <= rounds; i++) {
    await meter.measure({ traffic: toBare, server: bare }, seconds / 2);
    peaks.push((await meter.measure({ traffic: toFoyer, server: foyer }, seconds / 2)).perSecond);
  }
  const perSecond = Math.round(median(peaks) * SHARE_OF_PEAK);

  await using load = new SteadyMeter(signal);
  const measure = async (traffic: Traffic): Promise<SteadyReport> => {
    await load.start({ ...traffic, perSecond, connections: CONNECTIONS });
    await pause(BURST_MS, undefined, { signal });
    await load.report();
    await pause(seconds * 1000, undefined, { signal });
    const report = await load.stop();
    if (report.failed > 0) throw new Refused(`${report.failed} responses had a status other than 200`);
    return report;
  };
  const pairs: { foyer: SteadyReport; bare: SteadyReport }[] = [];
  for (let round = 1; round <= rounds; round++) {
    context.showProgress(`latency: round ${round} of ${rounds} at ${perSecond} requests a second`);
    pairs.push({ foyer: await measure(toFoyer), bare: await measure(toBare) });
  }
  const p99 = (server: 'foyer' | 'bare') => format(median(pairs.map((pair) => pair[server].p99Ms)), 'ms');
  return [
    rowOf({
      name: `request p99 at ${SHARE_OF_PEAK * 100} % of the peak, against bare`,
      note:
        `${p99('foyer')} against ${p99('bare')}, both at ${perSecond} requests a second, ` +
        `${SHARE_OF_PEAK * 100} % of Foyer's peak, for ${TICKET_TRAFFIC}`,
      unit: 'times',
      reach: { atMost: 3 },
      rounds: pairs.map(({ foyer, bare }) => foyer.p99Ms / bare.p99Ms),
      summarize: median,
    }),
  ];
}
