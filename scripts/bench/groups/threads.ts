import { setTimeout as pause } from 'node:timers/promises';
import { inProportion, type Stage } from '../bench-context.ts';
import { greatest, median, type Row, rowOf, show } from '../figures.ts';
import { type Peak, PeakMeter } from '../load/meters.ts';
import { type Target, TICKET_TRAFFIC, ticketTargets } from '../load/traffic.ts';
import { type ReplicaFiles, ReplicaProcess } from '../servers/replica-process.ts';
import { SnapshotContent } from '../snapshot-content.ts';

/** Memory is looked at so long after the load: what a request held is let go of by then. */
const SETTLE_MS = 1000;
const MOST_THREADS = 3;

/** What a second thread brings, and what each costs. */
export async function measureThreads(stage: Stage): Promise<Row[]> {
  const snapshot = await stage.snapshot(inProportion(stage.sizes.tickets));
  using content = new SnapshotContent(snapshot);
  const files = stage.files(snapshot);
  const targets = ticketTargets(content);
  return [await twoAgainstOne(stage, files, targets), await memoryOfEach(stage, files, targets)];
}

async function twoAgainstOne(stage: Stage, files: ReplicaFiles, targets: readonly Target[]): Promise<Row> {
  const { signal } = stage;
  const { rounds, seconds } = stage.sizes;
  await using meter = new PeakMeter(signal);
  await using one = await ReplicaProcess.start(files, { THREADS: '1' }, signal);
  await using two = await ReplicaProcess.start(files, { THREADS: '2' }, signal);
  const measure = (server: ReplicaProcess): Promise<Peak> => {
    const traffic = { port: server.port, credential: files.credential, targets, status: 200 };
    return meter.measure({ traffic, server }, seconds);
  };
  const pairs: { one: Peak; two: Peak }[] = [];
  for (let round = 0; round <= rounds; round++) {
    stage.show(`two threads against one: round ${round} of ${rounds}`);
    const pair = { one: await measure(one), two: await measure(two) };
    // The first is to warm up.
    if (round > 0) pairs.push(pair);
  }
  const perSecond = (of: 'one' | 'two') => Math.round(median(pairs.map((pair) => pair[of].perSecond)));
  const busy = greatest(pairs.map(({ two: { generatorBusy } }) => generatorBusy));
  const { threads } = await two.probe();
  return rowOf({
    name: 'two threads against one',
    note:
      `${perSecond('two')} against ${perSecond('one')} requests a second for ${TICKET_TRAFFIC}; ` +
      `${threads} threads answered; who asked, on the same processors, used at most ${Math.round(busy * 100)} % of one`,
    unit: 'times',
    reach: { atLeast: 1.25 },
    rounds: pairs.map(({ one, two }) => two.perSecond / one.perSecond),
    sumUp: median,
  });
}

async function memoryOfEach(stage: Stage, files: ReplicaFiles, targets: readonly Target[]): Promise<Row> {
  const { signal } = stage;
  const { rounds, seconds } = stage.sizes;
  await using meter = new PeakMeter(signal);
  const residentMegabytes = async (threads: number): Promise<number> => {
    await using server = await ReplicaProcess.start(files, { THREADS: String(threads) }, signal);
    const traffic = { port: server.port, credential: files.credential, targets, status: 200 };
    await meter.measure({ traffic, server }, seconds);
    await pause(SETTLE_MS, undefined, { signal });
    return (await server.probe()).residentBytes / 1e6;
  };
  const series: number[][] = [];
  for (let round = 1; round <= rounds; round++) {
    stage.show(`memory of threads: round ${round} of ${rounds}`);
    const resident: number[] = [];
    for (let threads = 1; threads <= MOST_THREADS; threads++) resident.push(await residentMegabytes(threads));
    series.push(resident);
  }
  const each = Array.from({ length: MOST_THREADS }, (_, i) => show(median(series.map((of) => of[i])), 'MB'));
  return rowOf({
    name: 'resident memory of each further thread',
    note: `${each.join(', ')} with 1 to ${MOST_THREADS} threads, after a load, the snapshot included`,
    unit: 'MB',
    reach: { atMost: 60 },
    rounds: series.map((resident) => (resident[MOST_THREADS - 1] - resident[0]) / (MOST_THREADS - 1)),
    sumUp: median,
  });
}
