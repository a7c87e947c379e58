import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Refused } from '../../run-command.ts';
import { inProportion, type Stage } from '../bench-context.ts';
import { median, type Row, rowOf, show } from '../figures.ts';
import { captureAnswers, writeAnswers } from '../load/http-client.ts';
import { CONNECTIONS, PeakMeter, SteadyMeter } from '../load/meters.ts';
import type { SteadyAnswer } from '../load/steady-load.ts';
import { TICKET_TRAFFIC, ticketTargets, type Traffic } from '../load/traffic.ts';
import { ComparisonServer } from '../servers/comparison-server.ts';
import { ReplicaProcess } from '../servers/replica-process.ts';
import { SnapshotContent } from '../snapshot-content.ts';

const SHARE_OF_PEAK = 0.7;
/** A load begins with a burst of connections, which is not looked at. */
const BEGIN_MS = 300;

/** How long requests take under a load that leaves some room, against the bare server under the same load. */
export async function measureLatency(stage: Stage): Promise<Row[]> {
  const { signal } = stage;
  const { rounds, seconds } = stage.sizes;
  const snapshot = await stage.snapshot(inProportion(stage.sizes.tickets));
  const files = stage.files(snapshot);
  await using foyer = await ReplicaProcess.start(files, {}, signal);
  using content = new SnapshotContent(snapshot);
  const { credential } = files;
  const ofFoyer: Traffic = { port: foyer.port, credential, targets: ticketTargets(content), status: 200 };
  const answers = join(stage.folder, 'answers-of-tickets');
  writeAnswers(answers, await captureAnswers(ofFoyer));
  await using bare = await ComparisonServer.bare(answers, signal);
  const ofBare: Traffic = { ...ofFoyer, port: bare.port };

  stage.show('latency: peak');
  await using meter = new PeakMeter(signal);
  const peaks: number[] = [];
  for (let i = 0; i <= rounds; i++) {
    await meter.measure({ traffic: ofBare, server: bare }, seconds / 2);
    peaks.push((await meter.measure({ traffic: ofFoyer, server: foyer }, seconds / 2)).perSecond);
  }
  const perSecond = Math.round(median(peaks) * SHARE_OF_PEAK);

  await using load = new SteadyMeter(signal);
  const measure = async (traffic: Traffic): Promise<SteadyAnswer> => {
    await load.begin({ ...traffic, perSecond, connections: CONNECTIONS });
    await pause(BEGIN_MS, undefined, { signal });
    await load.tell();
    await pause(seconds * 1000, undefined, { signal });
    const answer = await load.end();
    if (answer.failed > 0) throw new Refused(`${answer.failed} requests were not answered with 200`);
    return answer;
  };
  const pairs: { foyer: SteadyAnswer; bare: SteadyAnswer }[] = [];
  for (let round = 1; round <= rounds; round++) {
    stage.show(`latency: round ${round} of ${rounds} at ${perSecond} requests a second`);
    pairs.push({ foyer: await measure(ofFoyer), bare: await measure(ofBare) });
  }
  const p99 = (of: 'foyer' | 'bare') => show(median(pairs.map((pair) => pair[of].p99Ms)), 'ms');
  return [
    rowOf({
      name: `request p99 at ${SHARE_OF_PEAK * 100} % of the peak, against bare`,
      note:
        `${p99('foyer')} against ${p99('bare')}, both at ${perSecond} requests a second, ` +
        `${SHARE_OF_PEAK * 100} % of Foyer's peak, for ${TICKET_TRAFFIC}`,
      unit: 'times',
      reach: { atMost: 3 },
      rounds: pairs.map(({ foyer, bare }) => foyer.p99Ms / bare.p99Ms),
      sumUp: median,
    }),
  ];
}
