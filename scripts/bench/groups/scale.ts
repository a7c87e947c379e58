import { Refused } from '../../run-command.ts';
import { Random } from '../../sample/random.ts';
import type { BenchContext } from '../bench-context.ts';
import { KeepAliveConnection } from '../load/keep-alive-connection.ts';
import { requestBytes, send, type Target } from '../load/traffic.ts';
import { format, greatest, median, ratioRow, type Row, rowOf } from '../rows.ts';
import type { Replica } from '../servers/replica.ts';
import { SnapshotContent } from '../snapshot-content.ts';
import { QUERY_KINDS, type QueryKind } from './query-kinds.ts';

/** Tickets of the small snapshot, as a share of those of the large one. */
const SMALL_SHARE = 0.01;
/** Targets of each kind in a round. */
const TARGETS = 40;
/** Position of a deep page, as a share of the pages of its list. */
const DEEP = 0.98;

/** A replica of one size, with the content of its snapshot. */
interface Scaled {
  readonly replica: Replica;
  readonly content: SnapshotContent;
  readonly eventIds: readonly string[];
}

/** Measures every kind of query at a large and at a small size, one request at a time. */
export async function measureScale(context: BenchContext): Promise<Row[]> {
  const { largeTickets, rounds } = context.options.sizes;
  const smallTickets = Math.max(1, Math.round(largeTickets * SMALL_SHARE));
  await using stack = new AsyncDisposableStack();
  const start = async (tickets: number): Promise<Scaled> => {
    const snapshot = await context.snapshot({ ...context.largeShape, tickets });
    const replica = stack.use(await context.startReplica({ snapshots: [snapshot] }));
    const content = stack.use(new SnapshotContent(snapshot));
    const events = content.records('events', content.count('events'));
    return { replica, content, eventIds: events.map(({ id }) => String(id)) };
  };
  const [large, small] = [await start(largeTickets), await start(smallTickets)];
  const figures = await context.rounds('scale', async (round) => {
    const ofRound = [];
    for (const kind of QUERY_KINDS) {
      context.options.showProgress(`scale: round ${round} of ${rounds}: ${kind.name}`);
      context.options.signal.throwIfAborted();
      const phase = round / (rounds + 1);
      const targets = await Promise.all([large, small].map((one) => targetsOf(one, kind, phase, round)));
      const pairs = Math.min(...targets.map(({ length }) => length));
      if (pairs === 0) continue;
      const [ofLarge, ofSmall] = targets.map((some) => some.slice(0, pairs));
      ofRound.push({ name: kind.name, ...(await compare(large.replica, ofLarge, small.replica, ofSmall)) });
    }
    return ofRound;
  });
  const rows = Array.from(
    Map.groupBy(figures.flat(), ({ name }) => name),
    ([name, ofKind]) =>
      ratioRow({
        name,
        note:
          `${largeTickets} tickets against ${smallTickets}; longest hold of the event loop ` +
          format(greatest(ofKind.map(({ workMs }) => workMs)), 'ms'),
        unit: 'ms',
        reach: { atMost: 1.3 },
        pairs: ofKind.map(({ largeMs, smallMs }) => [largeMs, smallMs]),
      }),
  );
  return [
    ...rows.sort((a, b) => b.measured - a.measured),
    rowOf({
      name: `longest hold of the event loop in that, ${largeTickets} tickets`,
      note: 'processor time of the worker between two turns, with garbage collection',
      unit: 'ms',
      reach: { atMost: 5 },
      rounds: figures.map((ofRound) => greatest(ofRound.map(({ workMs }) => workMs))),
      summarize: greatest,
    }),
  ];
}

/** Returns targets of a kind from the whole collection; another phase gives other records. */
async function targetsOf(
  { replica, content, eventIds }: Scaled,
  { collection, headers, isDeep, pathOf }: QueryKind,
  phase: number,
  seed: number,
): Promise<Target[]> {
  const targets: Target[] = [];
  for (const [i, record] of content.records(collection, TARGETS, phase).entries()) {
    const random = () => new Random(seed * TARGETS + i);
    const path = pathOf(record, random(), false, eventIds);
    const neighbour = pathOf(record, random(), true, eventIds);
    if (path === undefined || neighbour === undefined) continue;
    if (isDeep) {
      const response = await send(replica, { path: neighbour, headers });
      const { totalPages } = (await response.json()) as { totalPages: number };
      targets.push({ path: `${path}&page=${Math.max(1, Math.floor(totalPages * DEEP))}`, headers });
    } else targets.push({ path, headers });
  }
  return targets;
}

/** Sends targets by turns to both replicas. */
async function compare(
  large: Replica,
  largeTargets: readonly Target[],
  small: Replica,
  smallTargets: readonly Target[],
) {
  // The server closes a connection that is idle for some seconds.
  const [toLarge, toSmall] = [large, small].map(({ port }) => new KeepAliveConnection(port));
  await large.probe();
  const [largeMs, smallMs]: [number[], number[]] = [[], []];
  for (const [i, target] of largeTargets.entries()) {
    largeMs.push(await timeOf(large, toLarge, target));
    smallMs.push(await timeOf(small, toSmall, smallTargets[i]));
  }
  const { longestWorkMs: workMs, threads } = await large.probe();
  if (threads === 0) throw new Refused('the probe does not see the requests of the replica');
  toLarge.close();
  toSmall.close();
  return { largeMs: median(largeMs), smallMs: median(smallMs), workMs };
}

/** Returns the milliseconds from the request to the last byte of its response. */
async function timeOf(replica: Replica, connection: KeepAliveConnection, target: Target): Promise<number> {
  const request = requestBytes(replica.traffic([]), target);
  const { promise, resolve } = Promise.withResolvers<number>();
  const startedAt = performance.now();
  connection.send(request, resolve);
  const status = await promise;
  if (status !== 200) throw new Refused(`${target.path}: the response has status ${status} instead of 200`);
  return performance.now() - startedAt;
}
