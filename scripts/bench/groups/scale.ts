import { Refused } from '../../run-command.ts';
import { Random } from '../../sample/random.ts';
import type { BenchContext } from '../bench-context.ts';
import { left, right, table } from '../../terminal/table.ts';
import { format, greatest, median, type Row, rowOf } from '../figures.ts';
import { sendRequest } from '../load/http-client.ts';
import { KeepAliveConnection } from '../load/keep-alive-connection.ts';
import { requestBytes, type Target } from '../load/traffic.ts';
import { ReplicaProcess } from '../servers/replica-process.ts';
import { SnapshotContent } from '../snapshot-content.ts';
import { type QueryKind, queryKinds } from './query-kinds.ts';

/** Tickets of the small snapshot, as a share of those of the large one. */
const SMALL_SHARE = 0.01;
/** Targets of each kind in a round. */
const TARGETS = 40;
const MAX_TIMES = 1.3;
/** Position of a deep page, as a share of the pages of its list. */
const DEEP = 0.98;

/** The result of a kind of query over all rounds. */
export interface KindFigure {
  readonly kind: string;
  readonly largeMs: number;
  readonly smallMs: number;
  /** Ratio of a round's median at the large size to that at the small size: the median of the rounds, and their range. */
  readonly times: number;
  readonly spread: readonly [least: number, greatest: number];
  /** Most processor time that the worker used between two turns of its event loop, at the large size. */
  readonly longestWorkMs: number;
}

interface Round {
  readonly largeMs: number;
  readonly smallMs: number;
  readonly longestWorkMs: number;
}

/** Measures every kind of query at a large and at a small size, one request at a time. */
export async function measureScale(context: BenchContext): Promise<{ rows: Row[]; kinds: KindFigure[] }> {
  const { rounds, largeTickets, events } = context.sizes;
  const smallTickets = Math.max(1, Math.round(largeTickets * SMALL_SHARE));
  await using large = await ScaledReplica.start(context, largeTickets);
  await using small = await ScaledReplica.start(context, smallTickets);
  const kinds = queryKinds(large.eventIds);
  const smallKinds = queryKinds(small.eventIds);
  const measured = new Map(kinds.map(({ name }): [string, Round[]] => [name, []]));
  for (let round = 0; round <= rounds; round++) {
    for (const [i, kind] of kinds.entries()) {
      context.showProgress(`scale: round ${round} of ${rounds}: ${kind.name}`);
      context.signal.throwIfAborted();
      const phase = round / (rounds + 1);
      const figures = await compare(
        large,
        await large.targets(kind, phase, round),
        small,
        await small.targets(smallKinds[i], phase, round),
      );
      // Round 0 is the warm-up.
      if (round > 0 && figures !== undefined) measured.get(kind.name)?.push(figures);
    }
  }
  const figures = Array.from(measured)
    .filter(([, series]) => series.length > 0)
    .map(([kind, series]) => figureOf(kind, series));
  const worst = figures.reduce((a, b) => (b.times > a.times ? b : a));
  const over = figures.filter(({ times }) => times > MAX_TIMES);
  const longest = figures.reduce((a, b) => (b.longestWorkMs > a.longestWorkMs ? b : a));
  const worstRounds = measured.get(worst.kind) ?? [];
  return {
    rows: [
      rowOf({
        name: `the kind of query that grows most, ${largeTickets} tickets against ${smallTickets}`,
        note:
          `${worst.kind}: ${milliseconds(worst.largeMs)} against ${milliseconds(worst.smallMs)}, ` +
          `the same ${events} events in both; ${over.length} of ${figures.length} kinds over ${MAX_TIMES} times`,
        unit: 'times',
        reach: { atMost: MAX_TIMES },
        rounds: worstRounds.map(({ largeMs, smallMs }) => largeMs / smallMs),
        summarize: median,
      }),
      rowOf({
        name: `longest hold of the event loop in that, ${largeTickets} tickets`,
        note: `processor time of the worker between two turns, with garbage collection; ${longest.kind}`,
        unit: 'ms',
        reach: { atMost: 5 },
        rounds: Array.from({ length: rounds }, (_, round) =>
          greatest(Array.from(measured.values(), (series) => series[round]?.longestWorkMs ?? 0)),
        ),
        summarize: greatest,
      }),
    ],
    kinds: figures,
  };
}

/** A replica of one size. */
class ScaledReplica implements AsyncDisposable {
  readonly server: ReplicaProcess;
  readonly eventIds: readonly string[];
  readonly #content: SnapshotContent;
  readonly #credential: string;

  private constructor(server: ReplicaProcess, snapshot: string, credential: string) {
    this.server = server;
    this.#content = new SnapshotContent(snapshot);
    const events = this.#content.records('events', this.#content.count('events'));
    this.eventIds = events.map(({ id }) => String(id));
    this.#credential = credential;
  }

  static async start(context: BenchContext, tickets: number): Promise<ScaledReplica> {
    const snapshot = await context.snapshot({ tickets, events: context.sizes.events });
    const files = context.replicaFiles(snapshot);
    const server = await ReplicaProcess.start(files, {}, context.signal);
    return new ScaledReplica(server, snapshot, files.credential);
  }

  /** Returns targets of a kind from the whole collection; another phase gives other records. */
  async targets(kind: QueryKind, phase: number, seed: number): Promise<Target[]> {
    const { headers } = kind;
    const targets: Target[] = [];
    for (const [i, record] of this.#content.records(kind.collection, TARGETS, phase).entries()) {
      const random = () => new Random(seed * TARGETS + i);
      const path = kind.pathOf(record, random(), false);
      const neighbour = kind.isDeep ? kind.pathOf(record, random(), true) : undefined;
      if (path === undefined) continue;
      const page =
        neighbour === undefined ? '' : `&page=${await this.#deepPage({ path: neighbour, headers })}`;
      targets.push({ path: path + page, headers });
    }
    return targets;
  }

  async #deepPage(target: Target): Promise<number> {
    const { body } = await sendRequest(this.server.port, this.#credential, target);
    const { totalPages } = JSON.parse(String(body)) as { totalPages: number };
    return Math.max(1, Math.floor(totalPages * DEEP));
  }

  /** Opens a connection. The server closes a connection that is idle for some seconds. */
  connect(): KeepAliveConnection {
    return new KeepAliveConnection(this.server.port);
  }

  /** Returns the milliseconds from the request to the last byte of its response. */
  async time(connection: KeepAliveConnection, target: Target): Promise<number> {
    const request = requestBytes(this.server.port, this.#credential, target);
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    const startedAt = performance.now();
    connection.send(request, (status) => {
      const elapsedMs = performance.now() - startedAt;
      if (status === 200) resolve(elapsedMs);
      else reject(new Refused(`${target.path}: the response has status ${status} instead of 200`));
    });
    return await promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#content[Symbol.dispose]();
    await this.server[Symbol.asyncDispose]();
  }
}

/** Sends the targets of a kind by turns to both replicas; undefined when one of them has none. */
async function compare(
  large: ScaledReplica,
  largeTargets: readonly Target[],
  small: ScaledReplica,
  smallTargets: readonly Target[],
): Promise<Round | undefined> {
  const pairs = Math.min(largeTargets.length, smallTargets.length);
  if (pairs === 0) return undefined;
  const toLarge = large.connect();
  const toSmall = small.connect();
  await large.server.probe();
  const largeMs: number[] = [];
  const smallMs: number[] = [];
  for (let i = 0; i < pairs; i++) {
    largeMs.push(await large.time(toLarge, largeTargets[i]));
    smallMs.push(await small.time(toSmall, smallTargets[i]));
  }
  const { longestWorkMs, threads } = await large.server.probe();
  if (threads === 0) throw new Refused('the probe does not see the requests of the replica');
  toLarge.close();
  toSmall.close();
  return { largeMs: median(largeMs), smallMs: median(smallMs), longestWorkMs };
}

function figureOf(kind: string, rounds: readonly Round[]): KindFigure {
  const times = rounds.map(({ largeMs, smallMs }) => largeMs / smallMs);
  return {
    kind,
    largeMs: median(rounds.map(({ largeMs }) => largeMs)),
    smallMs: median(rounds.map(({ smallMs }) => smallMs)),
    times: median(times),
    spread: [Math.min(...times), greatest(times)],
    longestWorkMs: greatest(rounds.map(({ longestWorkMs }) => longestWorkMs)),
  };
}

function milliseconds(value: number): string {
  return `${value.toFixed(2)} ms`;
}

/** Prints the figures of all kinds as a table. */
export function printKinds(kinds: readonly KindFigure[]): void {
  const cells = kinds.map(({ kind, largeMs, smallMs, times, spread, longestWorkMs }) => [
    kind,
    milliseconds(largeMs),
    milliseconds(smallMs),
    format(times, 'times'),
    spread.map((value) => format(value, 'times')).join(' to '),
    format(longestWorkMs, 'ms'),
  ]);
  const titles = ['LARGE', 'SMALL', 'MEASURED', 'SPREAD', 'LONGEST HOLD'];
  console.log(`\n${table([left('KIND OF QUERY'), ...titles.map(right)], cells)}`);
}
