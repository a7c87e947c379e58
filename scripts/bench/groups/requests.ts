import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { Refused } from '../../run-command.ts';
import { type BenchContext, shapeOf } from '../bench-context.ts';
import { greatest, median, type Row, rowOf } from '../figures.ts';
import { type CapturedResponse, captureResponses, headerOf, writeResponses } from '../load/http-client.ts';
import { type Peak, PeakMeter, type PeakSubject } from '../load/meters.ts';
import { BOUND_LENGTH, type Target, type Traffic } from '../load/traffic.ts';
import { ComparisonServer } from '../servers/comparison-server.ts';
import { ReplicaProcess } from '../servers/replica-process.ts';
import { SnapshotContent } from '../snapshot-content.ts';
import { type Comparison, COMPARISONS, OMISSIONS, type RequestKind, requestKinds } from './request-kinds.ts';

/** Length of the warm-up in rounds: after a second V8 has not yet optimized all of a server's code. */
const WARM_UP_ROUNDS = 2;
/** Number of responses of a kind that are compared between servers. */
const COMPARED = 50;
/** Least requests a second, as a multiple of those of another checkout. */
const REACH_AGAINST_CHECKOUT = 0.92;

type Server = PeakSubject['server'] & { readonly port: number };

/** A server that Foyer is compared with, for one kind of request. */
interface Competitor {
  readonly name: string;
  /** Checks that the server leaves out. */
  readonly omissions?: string | undefined;
  readonly server: Server;
  /** Least requests a second, as a multiple of this server's. */
  readonly atLeast: number;
  /** Targets, with the server's own entity tags if the kind is conditional. */
  readonly targets: readonly Target[];
}

/** Measures requests a second, compared with the bare, usual and rival servers or with another checkout. */
export async function measureRequests(context: BenchContext): Promise<Row[]> {
  const { against } = context;
  return await (against === undefined ? compareWithServers(context) : compareWithCheckout(context, against));
}

async function compareWithServers(context: BenchContext): Promise<Row[]> {
  const { signal, folder, showProgress } = context;
  const snapshot = await context.snapshot(shapeOf(context.sizes.tickets));
  const files = context.replicaFiles(snapshot);
  const { keysFile, credential } = files;
  await using foyer = await ReplicaProcess.start(files, {}, signal);
  showProgress('the databases of the other servers');
  const usualSources = { snapshot, keysFile, database: join(folder, 'usual.sqlite') };
  const rivalSources = { snapshot, keysFile, database: join(folder, 'rival.sqlite') };
  await using usual = await ComparisonServer.usual(usualSources, signal);
  await using rival = await ComparisonServer.rival(rivalSources, false, signal);
  await using cachingRival = await ComparisonServer.rival(rivalSources, true, signal);
  await using meter = new PeakMeter(signal, availableParallelism() > 1);
  using content = new SnapshotContent(snapshot);

  const rows: Row[] = [];
  for (const kind of selectedKinds(context, content)) {
    showProgress(`${kind.name}: comparing responses`);
    const targets = await targetsFor(foyer, kind, credential);
    const status = statusOf(kind);
    const captured = await captureResponses({ port: foyer.port, credential, targets, status });
    const responses = join(folder, 'responses');
    writeResponses(responses, captured);
    const varying = hasMovingWindows(kind) ? BOUND_LENGTH : 0;
    await using bare = await ComparisonServer.bare('node', responses, signal, varying);
    await using express = await ComparisonServer.bare('express', responses, signal, varying);
    const servers: Record<Comparison, Server> = { bare, express, usual, rival, cachingRival };
    const competitors: Competitor[] = [];
    for (const [id, atLeast] of Object.entries(kind.reach) as [Comparison, number][]) {
      const { [id]: server } = servers;
      const sendsCaptured = id === 'bare' || id === 'express';
      if (!sendsCaptured && !kind.isConditional) await checkSameRecords(captured, server, credential, kind);
      competitors.push({
        name: COMPARISONS[id],
        omissions: OMISSIONS[id],
        server,
        atLeast,
        targets: sendsCaptured ? targets : await targetsFor(server, kind, credential),
      });
    }
    rows.push(...(await compare(kind, { server: foyer, targets }, competitors, credential, meter, context)));
  }
  return rows;
}

async function compareWithCheckout(context: BenchContext, checkout: URL): Promise<Row[]> {
  const { signal } = context;
  const shape = shapeOf(context.sizes.tickets);
  const files = context.replicaFiles(await context.snapshot(shape));
  const otherFiles = { ...files, snapshots: [await context.snapshotFor(checkout, shape)] };
  await using foyer = await ReplicaProcess.start(files, {}, signal);
  await using other = await ReplicaProcess.start(otherFiles, {}, signal, checkout);
  await using meter = new PeakMeter(signal, availableParallelism() > 1);
  using content = new SnapshotContent(files.snapshots[0]);
  const { credential } = files;
  const rows: Row[] = [];
  for (const kind of selectedKinds(context, content)) {
    const own = { server: foyer, targets: await targetsFor(foyer, kind, credential) };
    const competitor = {
      name: 'the other checkout',
      server: other,
      atLeast: REACH_AGAINST_CHECKOUT,
      targets: await targetsFor(other, kind, credential),
    };
    rows.push(...(await compare(kind, own, [competitor], credential, meter, context)));
  }
  return rows;
}

function selectedKinds({ only }: BenchContext, content: SnapshotContent): RequestKind[] {
  return requestKinds(content).filter(({ name }) => name.includes(only));
}

function statusOf({ isConditional }: RequestKind): number {
  return isConditional ? 304 : 200;
}

function hasMovingWindows({ targets }: RequestKind): boolean {
  return targets.some(({ windowFrom }) => windowFrom !== undefined);
}

/** Returns the targets of a kind for a server: conditional ones carry the entity tags of that server. */
async function targetsFor(
  { port }: Server,
  { targets, isConditional }: RequestKind,
  credential: string,
): Promise<readonly Target[]> {
  if (!isConditional) return targets;
  const responses = await captureResponses({ port, credential, targets, status: 200 });
  return Array.from(responses, ([path, response]) => ({
    path,
    headers: { 'if-none-match': headerOf(response, 'etag') },
  }));
}

/** @throws Refused when a server returns other records, because the servers would not do the same work */
async function checkSameRecords(
  captured: ReadonlyMap<string, CapturedResponse>,
  { port }: Server,
  credential: string,
  { targets }: RequestKind,
): Promise<void> {
  const every = Math.max(1, Math.floor(targets.length / COMPARED));
  const checked = targets.filter((_, i) => i % every === 0);
  const responses = await captureResponses({ port, credential, targets: checked, status: 200 });
  for (const [path, { body }] of responses) {
    const content = (bytes: Buffer | undefined) => ({
      ...(JSON.parse(String(bytes)) as object),
      nextPage: undefined,
    });
    if (!isDeepStrictEqual(content(body), content(captured.get(path)?.body))) {
      throw new Refused(`${path}: another server returns other records than Foyer`);
    }
  }
}

async function compare(
  kind: RequestKind,
  own: Pick<Competitor, 'server' | 'targets'>,
  competitors: readonly Competitor[],
  credential: string,
  meter: PeakMeter,
  { sizes: { rounds, seconds }, showProgress }: BenchContext,
): Promise<Row[]> {
  const { name } = kind;
  const subjects = [own, ...competitors].map(({ server, targets }): PeakSubject => {
    const traffic: Traffic = { port: server.port, credential, targets, status: statusOf(kind) };
    return { traffic, server };
  });
  const peaks: Peak[][] = [];
  for (let round = 0; round <= rounds; round++) {
    const isWarmUp = round === 0;
    showProgress(isWarmUp ? `${name}: warming up` : `${name}: round ${round} of ${rounds}`);
    const peaksOfRound: Peak[] = [];
    for (const subject of subjects) {
      peaksOfRound.push(await meter.measure(subject, isWarmUp ? WARM_UP_ROUNDS * seconds : seconds));
    }
    if (!isWarmUp) peaks.push(peaksOfRound);
  }
  return competitors.map((competitor, i) =>
    rowOf({
      name: `${name}, against ${competitor.name}`,
      note: [
        noteOf(peaks, i + 1, kind),
        ...(competitor.omissions === undefined ? [] : [`that server has ${competitor.omissions}`]),
      ].join('; '),
      unit: 'times',
      reach: { atLeast: competitor.atLeast },
      rounds: peaks.map((peaksOfRound) => peaksOfRound[0].perSecond / peaksOfRound[i + 1].perSecond),
      summarize: median,
    }),
  );
}

/** @param subject index of the competitor in each round's peaks; Foyer's is 0 */
function noteOf(peaks: readonly Peak[][], subject: number, kind: RequestKind): string {
  const perSecond = (i: number) => Math.round(median(peaks.map((round) => round[i].perSecond)));
  const processor = peaks.map((round) => round[subject].serverMicroseconds / round[0].serverMicroseconds);
  const busy = greatest(peaks.flatMap((round) => round.map(({ generatorBusy }) => generatorBusy)));
  return (
    `${perSecond(0)} against ${perSecond(subject)} requests a second, ` +
    `${kind.targets.length} targets in rotation${hasMovingWindows(kind) ? ', no window twice' : ''}; ` +
    `by processor time of the server for a request ${median(processor).toFixed(2)} times; ` +
    `the load generator was busy for at most ${Math.round(busy * 100)} % of the time`
  );
}
