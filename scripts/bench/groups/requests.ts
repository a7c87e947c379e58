import { availableParallelism } from 'node:os';
import type { BenchContext } from '../bench-context.ts';
import { LoadGenerator, type Peak } from '../load/load-generator.ts';
import { REQUEST_KINDS, type RequestKind } from '../load/request-kinds.ts';
import { captureResponses, hasWindows, type Target, type Traffic } from '../load/traffic.ts';
import { greatest, median, ratioRow, type Row } from '../rows.ts';
import type { ServerProcess } from '../servers/processes.ts';
import { SnapshotContent } from '../snapshot-content.ts';

/** Length of the warm-up in rounds, in which V8 optimizes the code of the new servers. */
const WARM_UP_ROUNDS = 3;
/** Least requests a second, as a multiple of those of another checkout. */
const REACH_AGAINST_CHECKOUT = 0.92;

/** A server under load, with the least requests a second of Foyer as a multiple of those of this server. */
interface Contender {
  readonly name: string;
  readonly server: ServerProcess;
  readonly traffic: Traffic;
  readonly atLeast: number;
}

/** Measures requests a second, compared with bare servers or with another checkout. */
export async function measureRequests(context: BenchContext): Promise<Row[]> {
  const { only, showProgress, signal, against: checkout } = context.options;
  await using generator = new LoadGenerator(signal);
  using content = new SnapshotContent(await context.snapshot());
  const rows: Row[] = [];
  for (const kind of REQUEST_KINDS.filter(({ name }) => name.includes(only))) {
    showProgress(`${kind.name}: starting the servers`);
    // Every kind begins with new servers, whose code is not optimized for another kind.
    await using servers = new AsyncDisposableStack();
    const foyer = servers.use(await context.startReplica());
    const traffic = await trafficTo(foyer, kind, kind.targetsIn(content));
    const contenders: Contender[] = [{ name: 'Foyer', server: foyer, traffic, atLeast: 1 }];
    if (checkout === undefined)
      for (const [name, atLeast] of Object.entries(kind.reach)) {
        const server = servers.use(await context.startBare({ traffic, isExpress: name !== 'bare' }));
        contenders.push({ name, server, traffic: { ...traffic, port: server.port }, atLeast });
      }
    else {
      const server = servers.use(await context.startReplica({ checkout }));
      const its = await trafficTo(server, kind, traffic.targets);
      const atLeast = REACH_AGAINST_CHECKOUT;
      contenders.push({ name: 'the other checkout', server, traffic: its, atLeast });
    }
    rows.push(...(await compare(context, generator, kind.name, contenders)));
  }
  return rows;
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
    headers: { 'if-none-match': headers.get('etag') ?? '' },
  }));
  return server.traffic(conditional, 304);
}

/** Compares the first of the contenders with each other one. */
async function compare(
  context: BenchContext,
  generator: LoadGenerator,
  kind: string,
  contenders: readonly Contender[],
): Promise<Row[]> {
  const [own, ...others] = contenders;
  const { targets } = own.traffic;
  const polls = availableParallelism() > 1;
  const rounds = await context.rounds(kind, async (round) => {
    const seconds = context.options.sizes.seconds * (round === 0 ? WARM_UP_ROUNDS : 1);
    const peaks: Peak[] = [];
    for (const { server, traffic } of contenders)
      peaks.push(await generator.measurePeak(server, traffic, seconds, { polls }));
    return peaks;
  });
  const busy = greatest(rounds.flat().map(({ generatorBusy }) => generatorBusy));
  return others.map(({ name, atLeast }, i) => {
    const pairs = rounds.map((peaks) => [peaks[0], peaks[i + 1]] as const);
    const processor = median(pairs.map(([own, its]) => its.serverMicroseconds / own.serverMicroseconds));
    return ratioRow({
      name: `${kind}, against ${name}`,
      note:
        `${targets.length} targets in rotation${hasWindows(targets) ? ', no window twice' : ''}; ` +
        `by processor time of the server for a request ${processor.toFixed(2)} times; ` +
        `the load generator was busy for at most ${Math.round(busy * 100)} % of the time`,
      unit: 'requests/s',
      reach: { atLeast },
      pairs: pairs.map(([own, its]) => [own.perSecond, its.perSecond]),
    });
  });
}
