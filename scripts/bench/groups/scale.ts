import { Refused } from '../../run-command.ts';
import { Random } from '../../sample/random.ts';
import type { BenchContext } from '../bench-context.ts';
import { sendRequest } from '../load/http-client.ts';
import { KeepAliveConnection } from '../load/keep-alive-connection.ts';
import { requestBytes, type Target } from '../load/traffic.ts';
import { greatest, median, ratioRow, type Row, rowOf } from '../rows.ts';
import type { ProbeReport } from '../servers/probe.ts';
import type { Replica } from '../servers/replica.ts';
import { SnapshotContent } from '../snapshot-content.ts';
import { type QueryKind, queryKinds } from './query-kinds.ts';

/** Tickets of the small snapshot, as a share of those of the large one. */
const SMALL_SHARE = 0.01;
/** Targets of each kind in a round. */
const TARGETS = 40;
/** Position of a deep page, as a share of the pages of its list. */
const DEEP = 0.98;

/** Measures every kind of query at a large and at a small size, one request at a time. */
export async function measureScale(context: BenchContext): Promise<Row[]> {
  const { largeTickets, rounds } = context.sizes;
  const smallTickets = Math.max(1, Math.round(largeTickets * SMALL_SHARE));
  await using large = await ScaledReplica.start(context, largeTickets);
  await using small = await ScaledReplica.start(context, smallTickets);
  const sizes = `${largeTickets} tickets against ${smallTickets}`;
  const figures = await context.rounds('scale', async (round) => {
    const ofRound = [];
    for (const [i, { name }] of large.kinds.entries()) {
      context.showProgress(`scale: round ${round} of ${rounds}: ${name}`);
      context.signal.throwIfAborted();
      const phase = round / (rounds + 1);
      const figure = await compare(
        large,
        await large.targets(i, phase, round),
        small,
        await small.targets(i, phase, round),
      );
      if (figure !== undefined) ofRound.push({ name, ...figure });
    }
    return ofRound;
  });
  const kinds = Map.groupBy(figures.flat(), ({ name }) => name);
  const rows = Array.from(kinds, ([name, ofKind]) =>
    ratioRow({
      name,
      note: `${sizes}; longest hold of the event loop ${greatest(ofKind.map(({ workMs }) => workMs)).toFixed(1)} ms`,
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

/** A replica of one size. */
class ScaledReplica implements AsyncDisposable {
  readonly kinds: readonly QueryKind[];
  readonly #replica: Replica;
  readonly #content: SnapshotContent;

  private constructor(replica: Replica, content: SnapshotContent) {
    this.#replica = replica;
    this.#content = content;
    const events = content.records('events', content.count('events'));
    this.kinds = queryKinds(events.map(({ id }) => String(id)));
  }

  static async start(context: BenchContext, tickets: number): Promise<ScaledReplica> {
    const snapshot = await context.snapshot({ ...context.largeShape, tickets });
    const replica = await context.startReplica({ snapshots: [snapshot] });
    return new ScaledReplica(replica, new SnapshotContent(snapshot));
  }

  probe(): Promise<ProbeReport> {
    return this.#replica.probe();
  }

  /** Returns targets of a kind from the whole collection; another phase gives other records. */
  async targets(kind: number, phase: number, seed: number): Promise<Target[]> {
    const { collection, headers, isDeep, pathOf } = this.kinds[kind];
    const targets: Target[] = [];
    for (const [i, record] of this.#content.records(collection, TARGETS, phase).entries()) {
      const random = () => new Random(seed * TARGETS + i);
      const path = pathOf(record, random(), false);
      const neighbour = pathOf(record, random(), true);
      if (path === undefined || neighbour === undefined) continue;
      const page = isDeep ? `&page=${await this.#deepPage({ path: neighbour, headers })}` : '';
      targets.push({ path: path + page, headers });
    }
    return targets;
  }

  async #deepPage(target: Target): Promise<number> {
    const { body } = await sendRequest(this.#replica.traffic([]), target);
    const { totalPages } = JSON.parse(String(body)) as { totalPages: number };
    return Math.max(1, Math.floor(totalPages * DEEP));
  }

  /** Opens a connection. The server closes a connection that is idle for some seconds. */
  connect(): KeepAliveConnection {
    return new KeepAliveConnection(this.#replica.port);
  }

  /** Returns the milliseconds from the request to the last byte of its response. */
  async time(connection: KeepAliveConnection, target: Target): Promise<number> {
    const request = requestBytes(this.#replica.traffic([]), target);
    const { promise, resolve } = Promise.withResolvers<number>();
    const startedAt = performance.now();
    connection.send(request, resolve);
    const status = await promise;
    if (status !== 200) throw new Refused(`${target.path}: the response has status ${status} instead of 200`);
    return performance.now() - startedAt;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#content[Symbol.dispose]();
    await this.#replica[Symbol.asyncDispose]();
  }
}

/** Sends the targets of a kind by turns to both replicas; undefined when one of them has none. */
async function compare(
  large: ScaledReplica,
  largeTargets: readonly Target[],
  small: ScaledReplica,
  smallTargets: readonly Target[],
) {
  const pairs = Math.min(largeTargets.length, smallTargets.length);
  if (pairs === 0) return undefined;
  const [toLarge, toSmall] = [large.connect(), small.connect()];
  await large.probe();
  const [largeMs, smallMs]: [number[], number[]] = [[], []];
  for (let i = 0; i < pairs; i++) {
    largeMs.push(await large.time(toLarge, largeTargets[i]));
    smallMs.push(await small.time(toSmall, smallTargets[i]));
  }
  const { longestWorkMs: workMs, threads } = await large.probe();
  if (threads === 0) throw new Refused('the probe does not see the requests of the replica');
  toLarge.close();
  toSmall.close();
  return { largeMs: median(largeMs), smallMs: median(smallMs), workMs };
}
