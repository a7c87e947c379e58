import { setTimeout as pause } from 'node:timers/promises';
import { inspectSnapshot } from '../../../src/snapshot/format/open-snapshot.ts';
import type { BenchContext } from '../bench-context.ts';
import { LoadGenerator } from '../load/load-generator.ts';
import { mixedTargets } from '../load/request-kinds.ts';
import { format, ratioRow, type Row, sum } from '../rows.ts';
import { Child } from '../servers/processes.ts';
import type { BaselineReport } from './baseline-load.ts';

const BASELINE = new URL('./baseline-load.ts', import.meta.url);
/** Time after which the memory that only the load needed is released. */
const SETTLE_MS = 2000;

/** Measures the load of the large snapshot, and the memory after it. */
export async function measureLoad(context: BenchContext): Promise<Row[]> {
  const { signal } = context.options;
  const { seconds, largeTickets } = context.options.sizes;
  const snapshot = await context.snapshot(context.largeShape);
  const targets = mixedTargets(snapshot);
  await using generator = new LoadGenerator(signal);
  // The warm-up reads the file into the page cache.
  const rounds = await context.rounds('load', async () => {
    await using baselineProcess = new Child(BASELINE, signal);
    const baseline = await baselineProcess.call<BaselineReport>(snapshot);
    await using replica = await context.startReplica({ snapshots: [snapshot] });
    await generator.measurePeak(replica, replica.traffic(targets), seconds);
    await pause(SETTLE_MS, undefined, { signal });
    const { residentBytes } = await replica.probe();
    return { baseline, loadMs: replica.loadMs, residentBytes };
  });
  const lists = inspectSnapshot(snapshot).organizations.flatMap((one) => Object.values(one.lists));
  const jsonBytes = sum(lists.map(({ recordBytes }) => recordBytes));
  return [
    ratioRow({
      name: `load of ${largeTickets} tickets, against reading, copying and digesting the file`,
      note:
        'until live, according to the log; the latter is a loop that reads all rows by iterate(), copies the records ' +
        `into shared memory and digests all ${format(rounds[0].baseline.bytes / 1e6, 'MB')}; each in a new process, ` +
        'with the file in the page cache',
      unit: 's',
      reach: { atMost: 2 },
      pairs: rounds.map(({ loadMs, baseline }) => [loadMs / 1000, baseline.ms / 1000]),
    }),
    ratioRow({
      name: 'resident memory against the JSON of the records',
      note: 'of the process, with indexes and threads, after load and requests',
      unit: 'MB',
      reach: { atMost: 1.3 },
      pairs: rounds.map(({ residentBytes }) => [residentBytes / 1e6, jsonBytes / 1e6]),
    }),
  ];
}
