import { setTimeout as pause } from 'node:timers/promises';
import { Refused } from '../../run-command.ts';
import type { BenchContext } from '../bench-context.ts';
import { LoadGenerator } from '../load/load-generator.ts';
import type { Load, LoadReport } from '../load/load-program.ts';
import { REQUEST_KINDS } from '../load/request-kinds.ts';
import { send, type Target } from '../load/traffic.ts';
import { format, greatest, quantile, type Row, rowOf } from '../rows.ts';
import type { Replica } from '../servers/replica.ts';
import { SnapshotContent } from '../snapshot-content.ts';

/** The kinds of request to measure, with the least goodput as a share of the peak. */
const GOODPUT: Readonly<Record<string, number>> = {
  'one ticket': 0.5,
  'page of 100': 0.8,
  'page of 50 of a new window': 0.8,
};
const FACTORS = [1, 2, 5];
/** Numbers of connections, each with the reach of the p99 in milliseconds. */
const CONNECTIONS = [
  { count: 1000, p99Ms: 250 },
  { count: 5000, p99Ms: 1000 },
];
/** Least length of a load: with many connections, the first responses take up to a second. */
const LEAST_SECONDS = 1;
/** Part of a load that is not measured, as a share of the rest. */
const WARM_UP = 0.5;
const ADMIN_POLL_MS = 20;
/** A caller is served normally when it has this many answers in a row within the time. */
const NORMAL_ANSWERS = 10;
const NORMAL_MS = 100;
const RECOVERY_TIMEOUT_MS = 10_000;

/** A load at a multiple of the peak. */
interface Cell extends LoadReport {
  readonly kind: string;
  readonly connections: number;
  readonly factor: number;
  readonly peak: number;
  /** Response times of the admin port. */
  readonly adminMs: readonly number[];
  readonly recoverySeconds: number;
}

/** Measures goodput, response times and recovery at multiples of the peak. */
export async function measureOverload(context: BenchContext): Promise<Row[]> {
  const { signal } = context.options;
  // The peak is that of a replica without refusals.
  await using unlimited = await context.startReplica();
  await using replica = await context.startReplica({ environment: { OVERLOAD_DELAY_MS: '' } });
  await using generator = new LoadGenerator(signal);
  using content = new SnapshotContent(await context.snapshot());
  const seconds = Math.max(context.options.sizes.seconds, LEAST_SECONDS);
  const start = async (load: Load) => {
    await generator.start(load);
    await pause(seconds * WARM_UP * 1000, undefined, { signal });
    await generator.report();
  };
  const cells: Cell[] = [];
  for (const { name: kind, targetsIn } of REQUEST_KINDS.filter(({ name }) => name in GOODPUT)) {
    const targets = targetsIn(content);
    for (const { count: connections } of CONNECTIONS) {
      const title = `overload: ${kind}, ${connections} connections`;
      context.options.showProgress(`${title}, peak`);
      await start({ ...unlimited.traffic(targets), connections });
      await pause(seconds * 1000, undefined, { signal });
      const { perSecond: peak } = await generator.stop();
      for (const factor of FACTORS) {
        context.options.showProgress(`${title}, ${factor} ×`);
        const perSecond = peak * factor;
        await start({ ...replica.traffic(targets), perSecond, connections, omitsUnsent: true });
        const adminMs = await pollAdmin(replica, seconds);
        const [report, recoverySeconds] = await Promise.all([
          generator.stop(),
          measureRecovery(replica, targets[0]),
        ]);
        if (report.failed > 0)
          throw new Refused(`${report.failed} requests for ${kind} had neither an answer nor a refusal`);
        cells.push({ ...report, kind, connections, factor, peak, adminMs, recoverySeconds });
      }
    }
  }
  return [
    ...Object.entries(GOODPUT).map(([name, atLeast]) => goodputRow(name, atLeast, cells)),
    ...CONNECTIONS.map(({ count, p99Ms }) =>
      rowOf({
        name: `p99 of answered requests, ${count} connections`,
        note: 'from the time a request was due, over all kinds and rates',
        unit: 'ms',
        reach: { atMost: p99Ms },
        rounds: cells.filter(({ connections }) => connections === count).map((cell) => cell.p99Ms),
        summarize: greatest,
      }),
    ),
    rowOf({
      name: 'p99 of the admin port in that time',
      note: `/livez every ${ADMIN_POLL_MS} ms; the generator, the replica and the sender of these requests share the processors`,
      unit: 'ms',
      reach: { atMost: 100 },
      rounds: cells.flatMap(({ adminMs }) => adminMs),
      summarize: (values) => quantile(values, 0.99),
    }),
    rowOf({
      name: 'recovery after it',
      note: `until a single caller has ${NORMAL_ANSWERS} answers in a row within ${NORMAL_MS} ms each`,
      unit: 's',
      reach: { atMost: 1 },
      rounds: cells.map(({ recoverySeconds }) => recoverySeconds),
      summarize: greatest,
    }),
  ];
}

function goodputRow(name: string, atLeast: number, allCells: readonly Cell[]): Row {
  const cells = allCells.filter(({ kind }) => kind === name);
  const notes = cells.map(
    ({ factor, connections, perSecond, peak, refused, due, unsent }) =>
      `${format(perSecond / peak, 'times')} at ${factor} × ${Math.round(peak)} a second with ${connections} connections ` +
      `(${Math.round((100 * refused) / (due - unsent))} % refused)`,
  );
  const busy = Math.round(100 * greatest(cells.map((cell) => cell.busy)));
  return rowOf({
    name: `goodput of ${name} beyond the peak`,
    note: `${notes.join(', ')}; generator busy for ${busy} %`,
    unit: 'times',
    reach: { atLeast },
    rounds: cells.map(({ perSecond, peak }) => perSecond / peak),
    summarize: (values) => Math.min(...values),
  });
}

/** Requests the admin port at a fixed rate for a time. Returns the response times from when the requests were due. */
async function pollAdmin({ adminPort: port }: Replica, seconds: number): Promise<number[]> {
  const times: number[] = [];
  const end = performance.now() + seconds * 1000;
  for (let dueAt = performance.now(); dueAt < end; dueAt += ADMIN_POLL_MS) {
    await pause(Math.max(0, dueAt - performance.now()));
    await (await fetch(`http://127.0.0.1:${port}/livez`)).arrayBuffer();
    // A timer may be early by a part of a millisecond.
    times.push(Math.max(0, performance.now() - dueAt));
  }
  return times;
}

/** Returns the seconds from now until the first of the answers that show normal service. */
async function measureRecovery(replica: Replica, target: Target): Promise<number> {
  const startedAt = performance.now();
  let normalSince = startedAt;
  for (let normal = 0; normal < NORMAL_ANSWERS;) {
    const sentAt = performance.now();
    const response = await send(replica, target);
    await response.arrayBuffer();
    const now = performance.now();
    const isNormal = response.status === 200 && now - sentAt <= NORMAL_MS;
    if (!isNormal) normal = 0;
    else if (normal++ === 0) normalSince = now;
    if (now - startedAt > RECOVERY_TIMEOUT_MS)
      throw new Refused(`no normal service ${RECOVERY_TIMEOUT_MS} ms after an overload`);
  }
  return (normalSince - startedAt) / 1000;
}
