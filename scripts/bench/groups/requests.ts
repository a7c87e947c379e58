import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { Refused } from '../../run-command.ts';
import { headerOf } from '../ask-once.ts';
import type { Answer } from '../ask-once.ts';
import { captureAnswers, writeAnswers } from '../captured-answers.ts';
import { ComparisonServer } from '../comparison-server.ts';
import { PeakMeter } from '../peak.ts';
import type { Peak, PeakSubject } from '../peak.ts';
import { ReplicaProcess } from '../replica-process.ts';
import { requestKinds } from '../request-kinds.ts';
import type { RequestKind } from '../request-kinds.ts';
import { rowOf } from '../row.ts';
import type { Row } from '../row.ts';
import { SnapshotContent } from '../snapshot-content.ts';
import { inProportion } from '../stage.ts';
import type { Stage } from '../stage.ts';
import { greatest, median } from '../statistics.ts';
import type { Traffic } from '../traffic.ts';

/** Before the rounds of a kind a server is asked for twice as long: after a second its code is not at its best. */
const WARM_UP_SHARE = 2;

/** Requests a second of Foyer against those of the bare server and of the usual one. */
export async function measureRequests(stage: Stage): Promise<Row[]> {
  const { signal, folder, show } = stage;
  const snapshot = await stage.snapshot(inProportion(stage.sizes.tickets));
  const files = stage.files(snapshot);
  await using foyer = await ReplicaProcess.start(files, {}, signal);
  show('the database of the usual server');
  const sources = { snapshot, keysFile: files.keysFile, database: join(folder, 'usual.sqlite') };
  await using usual = await ComparisonServer.usual(sources, signal);
  using content = new SnapshotContent(snapshot);

  const learned = [];
  for (const kind of requestKinds(content)) {
    show(`${kind.name}: are the answers alike?`);
    const ofFoyer = await learn(foyer.port, files.credential, kind);
    const ofUsual = await learn(usual.port, files.credential, kind);
    if (!kind.isKnown) checkAlike(ofFoyer.answers, ofUsual.answers);
    learned.push({ kind, ofFoyer, ofUsual });
  }
  const answers = join(folder, 'answers');
  writeAnswers(answers, new Map(learned.flatMap(({ ofFoyer }) => [...ofFoyer.answers])));
  await using bare = await ComparisonServer.bare(answers, signal);
  await using meter = new PeakMeter(signal, availableParallelism() > 1);

  const rows: Row[] = [];
  for (const { kind, ofFoyer, ofUsual } of learned) {
    const subjects = [
      { traffic: ofFoyer.traffic, server: foyer },
      { traffic: { ...ofFoyer.traffic, port: bare.port }, server: bare },
      { traffic: ofUsual.traffic, server: usual },
    ];
    rows.push(...(await compare(kind, subjects, meter, stage)));
  }
  return rows;
}

interface Learned {
  readonly traffic: Traffic;
  readonly answers: ReadonlyMap<string, Answer>;
}

/** What a server answers, and how it is to be asked for that: of a 304, with the tag that it gave itself. */
async function learn(port: number, credential: string, { targets, isKnown }: RequestKind): Promise<Learned> {
  const traffic = { port, credential, targets, status: 200 };
  const answers = await captureAnswers(traffic);
  if (!isKnown) return { traffic, answers };
  const known = {
    ...traffic,
    targets: Array.from(answers, ([path, answer]) => ({
      path,
      headers: { 'if-none-match': headerOf(answer, 'etag') },
    })),
    status: 304,
  };
  return { traffic: known, answers: await captureAnswers(known) };
}

/** @throws Refused when two servers answer with other records: they would not do the same work */
function checkAlike(some: ReadonlyMap<string, Answer>, others: ReadonlyMap<string, Answer>): void {
  for (const [path, { body }] of some) {
    const content = (bytes: Buffer | undefined) => ({
      ...(JSON.parse(String(bytes)) as object),
      nextPage: undefined,
    });
    if (!isDeepStrictEqual(content(body), content(others.get(path)?.body))) {
      throw new Refused(`${path} is answered with other records by the usual server`);
    }
  }
}

async function compare(
  { name, targets, ofBare, ofUsual }: RequestKind,
  subjects: readonly PeakSubject[],
  meter: PeakMeter,
  { sizes: { rounds, seconds }, show }: Stage,
): Promise<Row[]> {
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
  const against = (other: number, what: string, atLeast: number) =>
    rowOf({
      name: `${name}, against ${what}`,
      note: note(peaks, other, targets.length),
      unit: 'times',
      reach: { atLeast },
      rounds: peaks.map((ofRound) => ofRound[0].perSecond / ofRound[other].perSecond),
      sumUp: median,
    });
  return [against(1, 'bare', ofBare), against(2, 'the usual way', ofUsual)];
}

function note(peaks: readonly Peak[][], other: number, targets: number): string {
  const perSecond = (of: number) => Math.round(median(peaks.map((ofRound) => ofRound[of].perSecond)));
  const processor = peaks.map((ofRound) => ofRound[other].serverMicroseconds / ofRound[0].serverMicroseconds);
  const busy = greatest(peaks.flatMap((ofRound) => ofRound.map(({ generatorBusy }) => generatorBusy)));
  return (
    `${perSecond(0)} against ${perSecond(other)} requests a second, ${targets} different ones in turn; ` +
    `by processor time of the server for a request ${median(processor).toFixed(2)} times; ` +
    `who asked was at work for at most ${Math.round(busy * 100)} % of the time`
  );
}
