import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { Refused } from '../../run-command.ts';
import { inProportion, type Stage } from '../bench-context.ts';
import { greatest, median, type Row, rowOf } from '../figures.ts';
import { type Answer, captureAnswers, headerOf, writeAnswers } from '../load/http-client.ts';
import { type Peak, PeakMeter, type PeakSubject } from '../load/meters.ts';
import { BOUND_LENGTH, type Target, type Traffic } from '../load/traffic.ts';
import { ComparisonServer } from '../servers/comparison-server.ts';
import { ReplicaProcess } from '../servers/replica-process.ts';
import { SnapshotContent } from '../snapshot-content.ts';
import { type Comparison, COMPARISONS, OMISSIONS, type RequestKind, requestKinds } from './request-kinds.ts';

/** The warm-up lasts so many times as long as a round: after a second a server's code is not at its best. */
const WARM_UP_SHARE = 2;
/** Responses of a kind that are compared with those of the servers that find their records themselves. */
const COMPARED = 50;
/** Another checkout may be faster by as much. */
const LEAST_OF_OTHER = 0.92;

type Server = PeakSubject['server'] & { readonly port: number };

/** A server that Foyer is compared with, for one kind of request. */
interface Comparable {
  readonly name: string;
  /** Checks that it does not make. */
  readonly omissions?: string | undefined;
  readonly server: Server;
  /** Least requests a second, as a multiple of this server's. */
  readonly atLeast: number;
  /** With the server's own tags, where the kind is of known responses. */
  readonly targets: readonly Target[];
}

/** Measures requests a second against bare, usual and rival server, or against another checkout. */
export async function measureRequests(stage: Stage): Promise<Row[]> {
  const { against } = stage;
  return await (against === undefined ? againstServers(stage) : againstCheckout(stage, against));
}

async function againstServers(stage: Stage): Promise<Row[]> {
  const { signal, folder, show } = stage;
  const snapshot = await stage.snapshot(inProportion(stage.sizes.tickets));
  const files = stage.files(snapshot);
  const { keysFile, credential } = files;
  await using foyer = await ReplicaProcess.start(files, {}, signal);
  show('the databases of the other servers');
  const ofUsual = { snapshot, keysFile, database: join(folder, 'usual.sqlite') };
  const ofRival = { snapshot, keysFile, database: join(folder, 'rival.sqlite') };
  await using usual = await ComparisonServer.usual(ofUsual, signal);
  await using rival = await ComparisonServer.rival(ofRival, false, signal);
  await using countingRival = await ComparisonServer.rival(ofRival, true, signal);
  await using meter = new PeakMeter(signal, availableParallelism() > 1);
  using content = new SnapshotContent(snapshot);

  const rows: Row[] = [];
  for (const kind of kindsOf(stage, content)) {
    show(`${kind.name}: are the responses alike?`);
    const targets = await known(kind, foyer, credential);
    const answers = join(folder, 'answers');
    const status = statusOf(kind);
    const captured = await captureAnswers({ port: foyer.port, credential, targets, status });
    writeAnswers(answers, captured);
    const isMoving = kind.targets.some(({ windowFrom }) => windowFrom !== undefined);
    await using bare = await ComparisonServer.bare(answers, signal, isMoving ? BOUND_LENGTH : 0);
    const others: Comparable[] = [];
    const servers: Record<Comparison, Server> = { bare, usual, rival, countingRival };
    for (const [name, atLeast] of Object.entries(kind.reach) as [Comparison, number][]) {
      const { [name]: server } = servers;
      const ofServer = name === 'bare' ? targets : await known(kind, server, credential);
      if (name !== 'bare' && !kind.isKnown) await checkAlike(captured, server, credential, kind);
      const { [name]: what } = COMPARISONS;
      others.push({ name: what, omissions: OMISSIONS[name], server, atLeast, targets: ofServer });
    }
    rows.push(...(await compare(kind, { server: foyer, targets }, others, credential, meter, stage)));
  }
  return rows;
}

async function againstCheckout(stage: Stage, checkout: URL): Promise<Row[]> {
  const { signal } = stage;
  const shape = inProportion(stage.sizes.tickets);
  const files = stage.files(await stage.snapshot(shape));
  const ofOther = { ...files, snapshots: [await stage.snapshotFor(checkout, shape)] };
  await using foyer = await ReplicaProcess.start(files, {}, signal);
  await using other = await ReplicaProcess.start(ofOther, {}, signal, checkout);
  await using meter = new PeakMeter(signal, availableParallelism() > 1);
  using content = new SnapshotContent(files.snapshots[0]);
  const { credential } = files;
  const rows: Row[] = [];
  for (const kind of kindsOf(stage, content)) {
    const own = { server: foyer, targets: await known(kind, foyer, credential) };
    const targets = await known(kind, other, credential);
    const others = [{ name: 'the other checkout', server: other, atLeast: LEAST_OF_OTHER, targets }];
    rows.push(...(await compare(kind, own, others, credential, meter, stage)));
  }
  return rows;
}

function kindsOf({ only }: Stage, content: SnapshotContent): RequestKind[] {
  return requestKinds(content).filter(({ name }) => name.includes(only));
}

function statusOf({ isKnown }: RequestKind): number {
  return isKnown ? 304 : 200;
}

/** The targets of a kind as a server is sent them: for a 304 with the tags that it gave itself. */
async function known(
  { targets, isKnown }: RequestKind,
  { port }: Server,
  credential: string,
): Promise<readonly Target[]> {
  if (!isKnown) return targets;
  const answers = await captureAnswers({ port, credential, targets, status: 200 });
  return Array.from(answers, ([path, answer]) => ({
    path,
    headers: { 'if-none-match': headerOf(answer, 'etag') },
  }));
}

/** @throws Refused when a server responds with other records: the servers would not do the same work */
async function checkAlike(
  captured: ReadonlyMap<string, Answer>,
  { port }: Server,
  credential: string,
  { targets }: RequestKind,
): Promise<void> {
  const every = Math.max(1, Math.floor(targets.length / COMPARED));
  const some = targets.filter((_, i) => i % every === 0);
  const answers = await captureAnswers({ port, credential, targets: some, status: 200 });
  for (const [path, { body }] of answers) {
    const content = (bytes: Buffer | undefined) => ({
      ...(JSON.parse(String(bytes)) as object),
      nextPage: undefined,
    });
    if (!isDeepStrictEqual(content(body), content(captured.get(path)?.body))) {
      throw new Refused(`${path} is answered with other records by another server`);
    }
  }
}

async function compare(
  kind: RequestKind,
  own: Pick<Comparable, 'server' | 'targets'>,
  others: readonly Comparable[],
  credential: string,
  meter: PeakMeter,
  { sizes: { rounds, seconds }, show }: Stage,
): Promise<Row[]> {
  const { name } = kind;
  const subjects = [own, ...others].map(({ server, targets }): PeakSubject => {
    const traffic: Traffic = { port: server.port, credential, targets, status: statusOf(kind) };
    return { traffic, server };
  });
  const peaks: Peak[][] = [];
  for (let round = 0; round <= rounds; round++) {
    const isWarmUp = round === 0;
    show(isWarmUp ? `${name}: warming up` : `${name}: round ${round} of ${rounds}`);
    const ofRound: Peak[] = [];
    for (const subject of subjects) {
      ofRound.push(await meter.measure(subject, isWarmUp ? WARM_UP_SHARE * seconds : seconds));
    }
    if (!isWarmUp) peaks.push(ofRound);
  }
  return others.map((other, i) =>
    rowOf({
      name: `${name}, against ${other.name}`,
      note: [note(peaks, i + 1, kind), ...(other.omissions === undefined ? [] : [other.omissions])].join(
        '; ',
      ),
      unit: 'times',
      reach: { atLeast: other.atLeast },
      rounds: peaks.map((ofRound) => ofRound[0].perSecond / ofRound[i + 1].perSecond),
      sumUp: median,
    }),
  );
}

function note(peaks: readonly Peak[][], other: number, { targets }: RequestKind): string {
  const perSecond = (of: number) => Math.round(median(peaks.map((ofRound) => ofRound[of].perSecond)));
  const processor = peaks.map((ofRound) => ofRound[other].serverMicroseconds / ofRound[0].serverMicroseconds);
  const busy = greatest(peaks.flatMap((ofRound) => ofRound.map(({ generatorBusy }) => generatorBusy)));
  const isMoving = targets.some(({ windowFrom }) => windowFrom !== undefined);
  return (
    `${perSecond(0)} against ${perSecond(other)} requests a second, ` +
    `${targets.length} targets in rotation${isMoving ? ', no window twice' : ''}; ` +
    `by processor time of the server for a request ${median(processor).toFixed(2)} times; ` +
    `the load generator was busy for at most ${Math.round(busy * 100)} % of the time`
  );
}
