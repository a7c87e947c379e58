import { Refused } from '../../run-command.ts';
import { Random } from '../../sample/random.ts';
import type { Stage } from '../bench-context.ts';
import { greatest, median, type Row, rowOf, show, textTable } from '../figures.ts';
import { askOnce } from '../load/http-client.ts';
import { KeepAliveConnection } from '../load/keep-alive-connection.ts';
import { requestBytes, type Target } from '../load/traffic.ts';
import { ReplicaProcess } from '../servers/replica-process.ts';
import { SnapshotContent } from '../snapshot-content.ts';
import { type QueryKind, queryKinds } from './query-kinds.ts';

/** The small snapshot has this share of the tickets of the large one. */
const SMALL_SHARE = 0.01;
/** Different ones of each kind in a round. */
const TARGETS = 40;
const MOST_TIMES = 1.3;
/** Share of the pages of a list at which a deep one lies. */
const DEEP = 0.98;

/** What became of a kind of query, over all rounds. */
export interface KindFigure {
  readonly kind: string;
  readonly largeMs: number;
  readonly smallMs: number;
  /** The median of a round at the large size against that at the small one: the median of the rounds, and their range. */
  readonly times: number;
  readonly spread: readonly [least: number, greatest: number];
  /** The most processor time that the thread that answers used between two turns, at the large size. */
  readonly longestWorkMs: number;
}

interface Round {
  readonly largeMs: number;
  readonly smallMs: number;
  readonly longestWorkMs: number;
}

/** Every kind of query at a large and at a small size, one request at a time. */
export async function measureScale(stage: Stage): Promise<{ rows: Row[]; kinds: KindFigure[] }> {
  const { rounds, largeTickets, events } = stage.sizes;
  const smallTickets = Math.max(1, Math.round(largeTickets * SMALL_SHARE));
  await using large = await Site.open(stage, { tickets: largeTickets, events });
  await using small = await Site.open(stage, { tickets: smallTickets, events });
  const kinds = queryKinds(large.eventIds);
  const measured = new Map(kinds.map(({ name }): [string, Round[]] => [name, []]));
  for (let round = 0; round <= rounds; round++) {
    const kindsOfSmall = queryKinds(small.eventIds);
    for (const [i, kind] of kinds.entries()) {
      stage.show(`scale: round ${round} of ${rounds}: ${kind.name}`);
      stage.signal.throwIfAborted();
      const figures = await compare(large, kind, small, kindsOfSmall[i], round / (rounds + 1), round);
      // The first is to warm up.
      if (round > 0 && figures !== undefined) measured.get(kind.name)?.push(figures);
    }
  }
  const figures = Array.from(measured)
    .filter(([, ofKind]) => ofKind.length > 0)
    .map(([kind, ofKind]) => figureOf(kind, ofKind));
  const worst = figures.reduce((a, b) => (b.times > a.times ? b : a));
  const over = figures.filter(({ times }) => times > MOST_TIMES);
  const longest = figures.reduce((a, b) => (b.longestWorkMs > a.longestWorkMs ? b : a));
  const ofRounds = (of: string) => measured.get(of) ?? [];
  return {
    rows: [
      rowOf({
        name: `the kind of query that grows most, ${largeTickets} tickets against ${smallTickets}`,
        note:
          `${worst.kind}: ${milliseconds(worst.largeMs)} against ${milliseconds(worst.smallMs)}, ` +
          `the same ${events} events in both; ${over.length} of ${figures.length} kinds over ${MOST_TIMES} times`,
        unit: 'times',
        reach: { atMost: MOST_TIMES },
        rounds: ofRounds(worst.kind).map(({ largeMs, smallMs }) => largeMs / smallMs),
        sumUp: median,
      }),
      rowOf({
        name: `longest hold of the event loop in that, ${largeTickets} tickets`,
        note: `processor time of the thread that answers between two turns, collection of garbage included; ${longest.kind}`,
        unit: 'ms',
        reach: { atMost: 5 },
        rounds: Array.from({ length: rounds }, (_, round) =>
          greatest(Array.from(measured.values(), (ofKind) => ofKind[round]?.longestWorkMs ?? 0)),
        ),
        sumUp: greatest,
      }),
    ],
    kinds: figures,
  };
}

/** A replica of one size. */
class Site implements AsyncDisposable {
  readonly server: ReplicaProcess;
  readonly content: SnapshotContent;
  readonly eventIds: readonly string[];
  readonly #credential: string;

  private constructor(server: ReplicaProcess, snapshot: string, credential: string) {
    this.server = server;
    this.content = new SnapshotContent(snapshot);
    this.eventIds = this.content.records('events', this.content.count('events')).map(({ id }) => String(id));
    this.#credential = credential;
  }

  static async open(stage: Stage, shape: { tickets: number; events: number }): Promise<Site> {
    const snapshot = await stage.snapshot(shape);
    const files = stage.files(snapshot);
    const server = await ReplicaProcess.start(files, {}, stage.signal);
    return new Site(server, snapshot, files.credential);
  }

  /** Different ones of a kind, from all over the collection; others for another phase. */
  async targets(kind: QueryKind, phase: number, seed: number): Promise<Target[]> {
    const { headers } = kind;
    const targets: Target[] = [];
    for (const [i, record] of this.content.records(kind.collection, TARGETS, phase).entries()) {
      const random = () => new Random(seed * TARGETS + i);
      const path = kind.pathOf(record, random(), false);
      const learned = kind.isDeep ? kind.pathOf(record, random(), true) : undefined;
      if (path === undefined) continue;
      const page = learned === undefined ? '' : `&page=${await this.#deepPage({ path: learned, headers })}`;
      targets.push({ path: path + page, headers });
    }
    return targets;
  }

  async #deepPage(target: Target): Promise<number> {
    const { body } = await askOnce(this.server.port, this.#credential, target);
    const { totalPages } = JSON.parse(String(body)) as { totalPages: number };
    return Math.max(1, Math.floor(totalPages * DEEP));
  }

  /** A connection to ask by: the server closes one that is idle for some seconds. */
  connect(): KeepAliveConnection {
    return new KeepAliveConnection(this.server.port);
  }

  /** Milliseconds from the question to the last byte of its answer. */
  async time(connection: KeepAliveConnection, target: Target): Promise<number> {
    const request = requestBytes(this.server.port, this.#credential, target);
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    const beganAt = performance.now();
    connection.ask(request, (status) => {
      const tookMs = performance.now() - beganAt;
      if (status === 200) resolve(tookMs);
      else reject(new Refused(`${target.path} was answered with ${status} instead of 200`));
    });
    return await promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.content[Symbol.dispose]();
    await this.server[Symbol.asyncDispose]();
  }
}

/** Undefined when there is nothing of the kind. */
async function compare(
  large: Site,
  kind: QueryKind,
  small: Site,
  kindOfSmall: QueryKind,
  phase: number,
  seed: number,
): Promise<Round | undefined> {
  const ofLarge = await large.targets(kind, phase, seed);
  const ofSmall = await small.targets(kindOfSmall, phase, seed);
  const pairs = Math.min(ofLarge.length, ofSmall.length);
  if (pairs === 0) return undefined;
  const toLarge = large.connect();
  const toSmall = small.connect();
  await large.server.probe();
  const largeMs: number[] = [];
  const smallMs: number[] = [];
  for (let i = 0; i < pairs; i++) {
    largeMs.push(await large.time(toLarge, ofLarge[i]));
    smallMs.push(await small.time(toSmall, ofSmall[i]));
  }
  const { longestWorkMs, threads } = await large.server.probe();
  if (threads === 0) throw new Refused('the probe does not see the threads that answer');
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

/** The figures of all kinds as a table for the terminal. */
export function printKinds(kinds: readonly KindFigure[]): void {
  const cells = kinds.map(({ kind, largeMs, smallMs, times, spread, longestWorkMs }) => [
    kind,
    milliseconds(largeMs),
    milliseconds(smallMs),
    show(times, 'times'),
    spread.map((value) => show(value, 'times')).join(' to '),
    show(longestWorkMs, 'ms'),
  ]);
  const head = [
    'kind of query',
    'at the large size',
    'at the small size',
    'measured',
    'spread',
    'longest hold',
  ];
  console.log(`\n${textTable(head, cells)}`);
}
