import { setTimeout as pause } from 'node:timers/promises';
import type { BenchContext } from '../bench-context.ts';
import { LoadGenerator } from '../load/load-generator.ts';
import { MIXED_TRAFFIC, mixedTargets } from '../load/request-kinds.ts';
import { format, greatest, median, ratioRow, type Row, rowOf } from '../rows.ts';

/** Time after a load until memory is measured: the memory of its requests is released by then. */
const SETTLE_MS = 1000;
const MAX_THREADS = 3;

/** Measures the throughput that a second thread adds, and the memory of each thread. */
export async function measureThreads(context: BenchContext): Promise<Row[]> {
  const { seconds } = context.options.sizes;
  const start = (threads: number) => context.startReplica({ environment: { THREADS: String(threads) } });
  const targets = mixedTargets(await context.snapshot());
  await using generator = new LoadGenerator(context.options.signal);
  const rows: Row[] = [];
  {
    await using one = await start(1);
    await using two = await start(2);
    const rounds = await context.rounds('two threads against one', async () => ({
      one: await generator.measurePeak(one, one.traffic(targets), seconds),
      two: await generator.measurePeak(two, two.traffic(targets), seconds),
    }));
    const { threads } = await two.probe();
    const busy = greatest(rounds.map(({ two }) => two.generatorBusy));
    rows.push(
      ratioRow({
        name: 'two threads against one',
        note:
          `for ${MIXED_TRAFFIC}; ${threads} threads answered; the load generator, on the same processors, used at most ` +
          `${Math.round(busy * 100)} % of one`,
        unit: 'requests/s',
        reach: { atLeast: 1.25 },
        pairs: rounds.map(({ one, two }) => [two.perSecond, one.perSecond]),
      }),
    );
  }
  const megabytes = async (threads: number): Promise<number> => {
    await using server = await start(threads);
    await generator.measurePeak(server, server.traffic(targets), seconds);
    await pause(SETTLE_MS, undefined, { signal: context.options.signal });
    return (await server.probe()).residentBytes / 1e6;
  };
  const rounds = await context.rounds('memory of threads', async () => {
    const resident: number[] = [];
    for (let threads = 1; threads <= MAX_THREADS; threads++) resident.push(await megabytes(threads));
    return resident;
  });
  const medians = rounds[0].map((_, i) => format(median(rounds.map((resident) => resident[i])), 'MB'));
  rows.push(
    rowOf({
      name: 'resident memory of each further thread',
      note: `${medians.join(', ')} with 1 to ${MAX_THREADS} threads, after a load, with the snapshot`,
      unit: 'MB',
      reach: { atMost: 60 },
      rounds: rounds.map((resident) => (resident[MAX_THREADS - 1] - resident[0]) / (MAX_THREADS - 1)),
    }),
  );
  return rows;
}
