import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { Refused } from '../../run-command.ts';
import type { BenchContext } from '../bench-context.ts';
import { captureResponses } from '../load/http-client.ts';
import { LoadGenerator, type Peak } from '../load/load-generator.ts';
import { type Comparison, COMPARISONS, REQUEST_KINDS, type RequestKind } from '../load/request-kinds.ts';
import { hasWindows, type Target, type Traffic } from '../load/traffic.ts';
import { greatest, median, ratioRow, type Row } from '../rows.ts';
import type { ServerProcess } from '../servers/server-process.ts';
import { SnapshotContent } from '../snapshot-content.ts';

/** Length of the warm-up in rounds: after one of that length V8 has not yet optimized all of a server's code. */
const WARM_UP_ROUNDS = 2;
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
  const { against, only } = context;
  await using foyer = await context.startReplica();
  await using generator = new LoadGenerator(context.signal);
  await using started = new AsyncDisposableStack();
  using content = new SnapshotContent(await context.snapshot());
  const competitorsFor = await (against === undefined
    ? comparisonServers(context, started)
    : otherCheckout(context, started, against));
  const rows: Row[] = [];
  for (const kind of REQUEST_KINDS.filter(({ name }) => name.includes(only))) {
    await using ofKind = new AsyncDisposableStack();
    context.showProgress(`${kind.name}: comparing responses`);
    const traffic = await trafficTo(foyer, kind, kind.targetsIn(content));
    const competitors = await competitorsFor(kind, traffic, ofKind);
    rows.push(...(await compare(context, generator, kind, { server: foyer, traffic }, competitors)));
  }
  return rows;
}

/** Returns the servers to compare with for a kind of request; the stack disposes of those that serve it alone. */
type CompetitorsFor = (kind: RequestKind, own: Traffic, stack: AsyncDisposableStack) => Promise<Competitor[]>;

async function otherCheckout(
  context: BenchContext,
  started: AsyncDisposableStack,
  checkout: URL,
): Promise<CompetitorsFor> {
  const server = started.use(await context.startReplica({ checkout }));
  return async (kind, { targets }) => [
    {
      name: 'the other checkout',
      server,
      traffic: await trafficTo(server, kind, targets),
      atLeast: REACH_AGAINST_CHECKOUT,
    },
  ];
}

async function comparisonServers(
  context: BenchContext,
  started: AsyncDisposableStack,
): Promise<CompetitorsFor> {
  context.showProgress('the database of the other servers');
  const database = join(context.folder, 'tickets.sqlite');
  const start = async (program: string, settings = {}) =>
    started.use(await context.startServer(program, { database, ...settings }));
  const common = {
    usual: await start('usual-server.ts'),
    rival: await start('rival-server.ts', { remembersTotals: false }),
    cachingRival: await start('rival-server.ts', { remembersTotals: true }),
  };
  return async (kind, own, stack) => {
    const competitors: Competitor[] = [];
    for (const [id, atLeast] of Object.entries(kind.reach) as [Comparison, number][]) {
      if (id === 'bare' || id === 'express') {
        const settings = { traffic: own, isExpress: id === 'express', chunkBytes: 0 };
        const server = stack.use(await context.startServer('bare-server.ts', settings));
        const traffic = server.traffic(own.targets, own.status);
        competitors.push({ ...COMPARISONS[id], server, traffic, atLeast });
      } else {
        const { [id]: server } = common;
        if (!kind.isConditional) await checkSameRecords(own, server);
        const traffic = await trafficTo(server, kind, own.targets);
        competitors.push({ ...COMPARISONS[id], server, traffic, atLeast });
      }
    }
    return competitors;
  };
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
    const seconds = context.sizes.seconds * (round === 0 ? WARM_UP_ROUNDS : 1);
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
