import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { Refused } from '../../run-command.ts';
import type { BenchContext } from '../bench-context.ts';
import { LoadGenerator, type Peak } from '../load/load-generator.ts';
import { type Comparison, COMPARISONS, REQUEST_KINDS, type RequestKind } from '../load/request-kinds.ts';
import { captureResponses, hasWindows, type Target, type Traffic } from '../load/traffic.ts';
import { greatest, median, ratioRow, type Row } from '../rows.ts';
import type { ServerProcess } from '../servers/processes.ts';
import { SnapshotContent } from '../snapshot-content.ts';

/** Length of the warm-up in rounds, in which V8 optimizes the code of the new servers. */
const WARM_UP_ROUNDS = 3;
/** Number of responses of a kind that are compared between servers. */
const COMPARED = 50;
/** Least requests a second, as a multiple of those of another checkout. */
const REACH_AGAINST_CHECKOUT = 0.92;

/** A server that Foyer is compared with, for one kind of request. */
interface Competitor {
  readonly name: string;
  /** Checks that the server leaves out. */
  readonly omits?: string;
  readonly server: ServerProcess;
  readonly traffic: Traffic;
  /** Least requests a second, as a multiple of this server's. */
  readonly atLeast: number;
}

/** Measures requests a second, compared with the bare, usual and rival servers or with another checkout. */
export async function measureRequests(context: BenchContext): Promise<Row[]> {
  const { only, showProgress, signal } = context.options;
  await using generator = new LoadGenerator(signal);
  using content = new SnapshotContent(await context.snapshot());
  const rows: Row[] = [];
  for (const kind of REQUEST_KINDS.filter(({ name }) => name.includes(only))) {
    showProgress(`${kind.name}: starting the servers`);
    // Every kind begins with new servers, whose code is not optimized for another kind.
    await using servers = new AsyncDisposableStack();
    const server = servers.use(await context.startReplica());
    const traffic = await trafficTo(server, kind, kind.targetsIn(content));
    const competitors = await startCompetitors(context, servers, kind, traffic);
    rows.push(...(await compare(context, generator, kind, { server, traffic }, competitors)));
  }
  return rows;
}

/** Starts the servers to compare with. `own` is the traffic to Foyer. */
async function startCompetitors(
  context: BenchContext,
  servers: AsyncDisposableStack,
  kind: RequestKind,
  own: Traffic,
): Promise<Competitor[]> {
  const { against: checkout, folder } = context.options;
  if (checkout !== undefined) {
    const server = servers.use(await context.startReplica({ checkout }));
    const traffic = await trafficTo(server, kind, own.targets);
    return [{ name: 'the other checkout', server, traffic, atLeast: REACH_AGAINST_CHECKOUT }];
  }
  const database = join(folder, 'tickets.sqlite');
  const programs = {
    bare: ['bare-server.ts', { traffic: own, isExpress: false, chunkBytes: 0 }],
    express: ['bare-server.ts', { traffic: own, isExpress: true, chunkBytes: 0 }],
    usual: ['usual-server.ts', { database }],
    rival: ['rival-server.ts', { database, remembersTotals: false }],
    cachingRival: ['rival-server.ts', { database, remembersTotals: true }],
  } as const;
  const competitors: Competitor[] = [];
  for (const [id, atLeast] of Object.entries(kind.reach) as [Comparison, number][]) {
    const [program, settings] = programs[id];
    const server = servers.use(await context.startServer(program, settings));
    const sendsCaptured = program === 'bare-server.ts';
    if (!sendsCaptured && !kind.isConditional) await checkSameRecords(own, server);
    const traffic = sendsCaptured
      ? server.traffic(own.targets, own.status)
      : await trafficTo(server, kind, own.targets);
    competitors.push({ ...COMPARISONS[id], server, traffic, atLeast });
  }
  return competitors;
}

/** Returns traffic of a kind to a server: conditional requests carry the entity tags of that server. */
async function trafficTo(
  server: ServerProcess,
  { isConditional }: RequestKind,
  targets: readonly Target[],
): Promise<Traffic> {
  if (!isConditional) return server.traffic(targets);
  const responses = await captureResponses(server.traffic(targets.map(({ path }) => ({ path }))));
  const conditional = Array.from(responses, ([path, { headers }]) => ({
    path,
    headers: { 'if-none-match': String(headers['etag']) },
  }));
  return server.traffic(conditional, 304);
}

/** @throws Refused when a server returns other records, because the servers would not do the same work */
async function checkSameRecords(own: Traffic, server: ServerProcess): Promise<void> {
  const every = Math.max(1, Math.floor(own.targets.length / COMPARED));
  const targets = own.targets.filter((_, i) => i % every === 0);
  const expected = await captureResponses({ ...own, targets });
  const contentOf = (body: Buffer | undefined) => ({
    ...(JSON.parse(String(body)) as object),
    nextPage: undefined,
  });
  for (const [path, { body }] of await captureResponses(server.traffic(targets))) {
    if (!isDeepStrictEqual(contentOf(body), contentOf(expected.get(path)?.body)))
      throw new Refused(`${path}: another server returns other records than Foyer`);
  }
}

async function compare(
  context: BenchContext,
  generator: LoadGenerator,
  { name: kindName }: RequestKind,
  own: Pick<Competitor, 'server' | 'traffic'>,
  competitors: readonly Competitor[],
): Promise<Row[]> {
  const { targets } = own.traffic;
  const polls = availableParallelism() > 1;
  const rounds = await context.rounds(kindName, async (round) => {
    const seconds = context.options.sizes.seconds * (round === 0 ? WARM_UP_ROUNDS : 1);
    const peaks: Peak[] = [];
    for (const { server, traffic } of [own, ...competitors])
      peaks.push(await generator.measurePeak(server, traffic, seconds, { polls }));
    return peaks;
  });
  const busy = greatest(rounds.flat().map(({ generatorBusy }) => generatorBusy));
  return competitors.map(({ name, omits, atLeast }, i) => {
    const pairs = rounds.map((peaks) => [peaks[0], peaks[i + 1]] as const);
    const processor = median(pairs.map(([own, its]) => its.serverMicroseconds / own.serverMicroseconds));
    return ratioRow({
      name: `${kindName}, against ${name}`,
      note:
        `${targets.length} targets in rotation${hasWindows(targets) ? ', no window twice' : ''}; ` +
        `by processor time of the server for a request ${processor.toFixed(2)} times; ` +
        `the load generator was busy for at most ${Math.round(busy * 100)} % of the time` +
        (omits ? `; that server has ${omits}` : ''),
      unit: 'requests/s',
      reach: { atLeast },
      pairs: pairs.map(([own, its]) => [own.perSecond, its.perSecond]),
    });
  });
}
