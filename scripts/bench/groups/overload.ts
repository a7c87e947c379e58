import { Agent } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { Refused } from '../../run-command.ts';
import { type BenchContext, shapeOf } from '../bench-context.ts';
import { format, greatest, quantile, type Row, rowOf, sum } from '../figures.ts';
import { sendRequest } from '../load/http-client.ts';
import type { OpenCommand, OpenLoad, OpenReport } from '../load/open-load.ts';
import { pathInPass } from '../load/traffic.ts';
import { Child } from '../servers/child.ts';
import { ReplicaProcess } from '../servers/replica-process.ts';
import { SnapshotContent } from '../snapshot-content.ts';
import { type RequestKind, requestKinds } from './request-kinds.ts';

const OPEN_LOAD = new URL('../load/open-load.ts', import.meta.url);

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
/** All connections of the generator come from one address. */
const ENVIRONMENT = { MAX_CONNECTIONS: '10000', MAX_CONNECTIONS_PER_ADDRESS: '10000' };
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
interface Cell extends OpenReport {
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
  const { signal } = context;
  const snapshot = await context.snapshot(shapeOf(context.sizes.tickets));
  const files = context.replicaFiles(snapshot);
  using content = new SnapshotContent(snapshot);
  // The peak is that of a replica without refusals.
  await using unlimited = await ReplicaProcess.start(files, ENVIRONMENT, signal);
  await using replica = await ReplicaProcess.start(files, { ...ENVIRONMENT, OVERLOAD_DELAY_MS: '' }, signal);
  const kinds = requestKinds(content).filter(({ name }) => name in GOODPUT);
  const cells: Cell[] = [];
  for (const kind of kinds)
    for (const { count } of CONNECTIONS)
      cells.push(...(await measureKind(context, kind, count, unlimited, replica)));
  return [
    ...kinds.map(({ name }) =>
      goodputRow(
        name,
        cells.filter(({ kind }) => kind === name),
      ),
    ),
    ...CONNECTIONS.map(({ count, p99Ms }) =>
      rowOf({
        name: `p99 of answered requests, ${count} connections`,
        note: `from the time a request was due, over all kinds and rates`,
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

function goodputRow(name: string, cells: readonly Cell[]): Row {
  const ofConnections = CONNECTIONS.map(({ count }) => {
    const some = cells.filter(({ connections }) => connections === count);
    const parts = some.map(
      ({ factor, perSecond, peak, refused, due, unsent }) =>
        `${format(perSecond / peak, 'times')} at ${factor} × (${Math.round((100 * refused) / (due - unsent))} % refused)`,
    );
    return `${parts.join(', ')} of ${Math.round(some[0].peak)} a second with ${count} connections`;
  });
  return rowOf({
    name: `goodput of ${name} beyond the peak`,
    note: `${ofConnections.join('; ')}; generator busy for ${Math.round(100 * greatest(cells.map(({ busy }) => busy)))} %`,
    unit: 'times',
    reach: { atLeast: GOODPUT[name] },
    rounds: cells.map(({ perSecond, peak }) => perSecond / peak),
    summarize: (values) => Math.min(...values),
  });
}

async function measureKind(
  context: BenchContext,
  kind: RequestKind,
  connections: number,
  unlimited: ReplicaProcess,
  replica: ReplicaProcess,
): Promise<Cell[]> {
  const { signal } = context;
  const seconds = Math.max(context.sizes.seconds, LEAST_SECONDS);
  const load = (server: ReplicaProcess, perSecond?: number): OpenLoad => ({
    ...server.traffic(kind.targets),
    perSecond,
    connections,
    warmUpSeconds: seconds * WARM_UP,
    seconds,
  });
  const title = `overload: ${kind.name}, ${connections} connections`;
  context.showProgress(`${title}, peak`);
  const { perSecond: peak } = await run(load(unlimited), signal, () => Promise.resolve());
  const cells: Cell[] = [];
  for (const factor of FACTORS) {
    context.showProgress(`${title}, ${factor} ×`);
    let recoverySeconds = NaN;
    const isOver = new AbortController();
    const loaded = run(load(replica, peak * factor), signal, async () => {
      isOver.abort();
      recoverySeconds = await measureRecovery(replica, kind);
    }).finally(() => {
      isOver.abort();
    });
    const [report, adminMs] = await Promise.all([loaded, pollAdmin(replica, isOver.signal)]);
    cells.push({
      ...report,
      kind: kind.name,
      connections,
      factor,
      peak,
      adminMs,
      recoverySeconds,
    });
  }
  const failed = sum(cells.map((cell) => cell.failed));
  if (failed > 0)
    throw new Refused(`${failed} requests for ${kind.name} had neither an answer nor a refusal`);
  return cells;
}

/** Runs a load by a generator in its own process. */
async function run(load: OpenLoad, signal: AbortSignal, whenOver: () => Promise<void>): Promise<OpenReport> {
  await using generator = new Child<OpenCommand, OpenReport>(OPEN_LOAD, signal);
  await generator.call({ start: load });
  await whenOver();
  return await generator.call('report');
}

/** Requests the admin port at a fixed rate until the signal. Returns the times from when they were due. */
async function pollAdmin({ adminPort }: ReplicaProcess, isOver: AbortSignal): Promise<number[]> {
  const times: number[] = [];
  for (let dueAt = performance.now(); !isOver.aborted; dueAt += ADMIN_POLL_MS) {
    await pause(Math.max(0, dueAt - performance.now()));
    await sendRequest(adminPort, '', { path: '/livez' });
    // A timer may be early by a part of a millisecond.
    times.push(Math.max(0, performance.now() - dueAt));
  }
  return times;
}

/** Returns the seconds from now until the first of the answers that show normal service. */
async function measureRecovery(replica: ReplicaProcess, { targets: [target] }: RequestKind): Promise<number> {
  const { port, credential } = replica.traffic([]);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const startedAt = performance.now();
  let normalSince = startedAt;
  for (let normal = 0; normal < NORMAL_ANSWERS;) {
    const sentAt = performance.now();
    const { status } = await sendRequest(port, credential, { path: pathInPass(0, target) }, agent);
    const now = performance.now();
    const isNormal = status === 200 && now - sentAt <= NORMAL_MS;
    if (!isNormal) normal = 0;
    else if (normal++ === 0) normalSince = now;
    if (now - startedAt > RECOVERY_TIMEOUT_MS)
      throw new Refused(`no normal service ${RECOVERY_TIMEOUT_MS} ms after an overload`);
  }
  agent.destroy();
  return (normalSince - startedAt) / 1000;
}
