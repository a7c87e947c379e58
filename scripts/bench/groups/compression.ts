import { setTimeout as pause } from 'node:timers/promises';
import { CONTENT_CODINGS, type ContentCoding } from '../../../src/contract/headers.ts';
import { Refused } from '../../run-command.ts';
import { type BenchContext, shapeOf } from '../bench-context.ts';
import { format, median, type Row, rowOf } from '../figures.ts';
import { sendRequest } from '../load/http-client.ts';
import { CONNECTIONS, type Peak, PeakMeter, SteadyMeter } from '../load/meters.ts';
import { type Target, ticketTargets } from '../load/traffic.ts';
import { ReplicaProcess } from '../servers/replica-process.ts';
import { SnapshotContent } from '../snapshot-content.ts';
import { pages } from './request-kinds.ts';

/** Least requests a second, as a multiple of those of plain pages. */
const REACH = 0.5;
const LARGE_PAGE = 100;
/** Share of the peak of plain pages at which pages are requested beside tickets. */
const SHARE_OF_PEAK = 0.2;
const TICKETS_PER_SECOND = 1000;
/** Length of the burst of connections at the start of a load, which is not measured. */
const BURST_MS = 300;

/** Measures the cost of compressed pages: their requests a second, and the response times of others meanwhile. */
export async function measureCompression(context: BenchContext): Promise<Row[]> {
  const { signal, showProgress } = context;
  const { rounds, seconds } = context.sizes;
  const snapshot = await context.snapshot(shapeOf(context.sizes.tickets));
  const files = context.replicaFiles(snapshot);
  await using replica = await ReplicaProcess.start(files, {}, signal);
  using content = new SnapshotContent(snapshot);
  await using meter = new PeakMeter(signal);
  const rows: Row[] = [];
  let plainPeak = 0;
  for (const size of [25, LARGE_PAGE]) {
    const plain = pages(content, [size]);
    const kinds = [plain, ...CONTENT_CODINGS.map((coding) => accepting(coding, plain))];
    const series: Peak[][] = [];
    for (let round = 0; round <= rounds; round++) {
      showProgress(`compressed pages of ${size}: round ${round} of ${rounds}`);
      const peaks: Peak[] = [];
      for (const targets of kinds)
        peaks.push(await meter.measure({ traffic: replica.traffic(targets), server: replica }, seconds));
      // Round 0 is the warm-up.
      if (round > 0) series.push(peaks);
    }
    const lengths = await Promise.all(
      kinds.map(async ([target]) => (await sendRequest(replica.port, files.credential, target)).body.length),
    );
    const perSecond = (i: number) => Math.round(median(series.map((peaks) => peaks[i].perSecond)));
    const microseconds = (i: number) =>
      Math.round(median(series.map((peaks) => peaks[i].serverMicroseconds)));
    plainPeak = perSecond(0);
    for (const [i, coding] of CONTENT_CODINGS.entries()) {
      rows.push(
        rowOf({
          name: `page of ${size} in ${coding}, against plain`,
          note:
            `${perSecond(i + 1)} against ${perSecond(0)} requests a second, ${lengths[i + 1]} against ${lengths[0]} bytes, plain while the thread pool is full; ` +
            `${microseconds(i + 1)} against ${microseconds(0)} µs of processor time of the server for a request`,
          unit: 'times',
          reach: { atLeast: REACH },
          rounds: series.map((peaks) => peaks[i + 1].perSecond / peaks[0].perSecond),
          summarize: median,
        }),
      );
    }
  }
  rows.push(await measureOthers(context, replica, content, Math.ceil(plainPeak * SHARE_OF_PEAK)));
  return rows;
}

/** Measures the p99 of requests for tickets while others request compressed pages, against plain pages. */
async function measureOthers(
  { signal, sizes: { rounds, seconds }, showProgress }: BenchContext,
  replica: ReplicaProcess,
  content: SnapshotContent,
  pagesPerSecond: number,
): Promise<Row> {
  await using pageLoad = new SteadyMeter(signal);
  await using ticketLoad = new SteadyMeter(signal);
  const tickets = replica.traffic(ticketTargets(content).filter(({ path }) => !path.includes('?')));
  const plain = pages(content, [LARGE_PAGE]);
  const p99Beside = async (targets: readonly Target[]): Promise<number> => {
    const connections = CONNECTIONS / 2;
    await pageLoad.start({ ...replica.traffic(targets), perSecond: pagesPerSecond, connections });
    await ticketLoad.start({ ...tickets, perSecond: TICKETS_PER_SECOND, connections });
    await pause(BURST_MS, undefined, { signal });
    await ticketLoad.report();
    await pause(seconds * 1000, undefined, { signal });
    const reports = [await ticketLoad.stop(), await pageLoad.stop()];
    if (reports.some(({ failed }) => failed > 0)) throw new Refused('a response had a status other than 200');
    return reports[0].p99Ms;
  };
  const pairs: { plain: number; gzip: number }[] = [];
  for (let round = 1; round <= rounds; round++) {
    showProgress(`tickets beside compressed pages: round ${round} of ${rounds}`);
    pairs.push({ plain: await p99Beside(plain), gzip: await p99Beside(accepting('gzip', plain)) });
  }
  const p99 = (kind: 'plain' | 'gzip') => format(median(pairs.map(({ [kind]: ms }) => ms)), 'ms');
  return rowOf({
    name: `ticket p99 beside pages of ${LARGE_PAGE} in gzip, against plain`,
    note: `${p99('gzip')} against ${p99('plain')}, with ${pagesPerSecond} pages and ${TICKETS_PER_SECOND} tickets a second`,
    unit: 'times',
    reach: { atMost: 2 },
    rounds: pairs.map(({ plain: beside, gzip }) => gzip / beside),
    summarize: median,
  });
}

function accepting(coding: ContentCoding, targets: readonly Target[]): Target[] {
  return targets.map((target) => ({ ...target, headers: { 'Accept-Encoding': coding } }));
}
