import {
  copyFileSync,
  linkSync,
  readFileSync,
  renameSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { formatCredential } from '../../src/keys/credential.ts';
import { DEATH_HEADER, type Death } from '../../test/system/mortal-thread.ts';
import { type Random, ShuffleBag } from '../sample/random.ts';
import type { Variant } from './content.ts';
import { POLL_SECONDS } from './soak-replica.ts';
import type { SoakRun } from './soak-run.ts';

/** The events of a soak that must not affect a request: new and refused snapshots, changed keys, signals, ended workers. */

const FILE = 'soak.sqlite';
const DEATHS: readonly Death[] = ['throws an error', 'rejects a promise', 'exits'];
/** Time for a changed key after the next poll. It takes milliseconds on a machine that is not busy. */
const KEY_MARGIN_MS = 5000;
const KEY_REQUESTS = 20;

/** Intervals between two events of a kind, in milliseconds. */
const [PUBLISH_MS, KEY_MS, HANGUP_MS, DEATH_MS, READY_MS] = [1500, 1000, 3000, 6000, 500];

/** Starts all disturbances. Fulfilled when they have ended. */
export async function disturb(run: SoakRun): Promise<void> {
  const each = (
    part: string,
    intervalMs: number,
    work: (run: SoakRun, random: Random) => Promise<void> | void,
  ) =>
    run.repeat(part, async (random) => {
      await run.pause(intervalMs * (0.5 + random.fraction()));
      if (!run.signal.aborted) await work(run, random);
    });
  let publications: ShuffleBag<Publication> | undefined;
  await Promise.all([
    each('publication', PUBLISH_MS, (_, random) => {
      publications ??= new ShuffleBag(random, PUBLICATIONS);
      return publishNext(run, publications.draw(), random);
    }),
    each('key', KEY_MS, changeKeys),
    each('SIGHUP', HANGUP_MS, hangUp),
    each('worker', DEATH_MS, endWorker),
    each('readiness', READY_MS, checkReadiness),
  ]);
}

/** Publishes a valid snapshot, and waits until it is live. */
export async function publish(run: SoakRun, variant: Variant): Promise<void> {
  const { replica } = run;
  run.publishes(variant);
  const live = replica.logLine('snapshot live', 'snapshotId', variant.snapshotId);
  const draft = join(replica.snapshotDir, '.draft');
  linkSync(variant.path, draft);
  renameSync(draft, join(replica.snapshotDir, FILE));
  await live;
  run.isLive();
  run.count('swaps');
}

/** Publications: a valid snapshot, or a reason for a refusal, each with its number in a round. */
const PUBLICATIONS = [
  ['live', 4],
  ['older', 1],
  ['damaged', 1],
  ['cut-short', 1],
  ['empty', 1],
] as const;
type Publication = (typeof PUBLICATIONS)[number][0];

async function publishNext(run: SoakRun, publication: Publication, random: Random): Promise<void> {
  const { variants, older } = run.data;
  const variant = random.pick(variants.filter((one) => one !== run.latest));
  if (publication === 'live') {
    await publish(run, variant);
    return;
  }
  const { snapshotDir } = run.replica;
  const draft = join(snapshotDir, '.draft');
  copyFileSync(publication === 'older' ? older.path : variant.path, draft);
  const { size } = statSync(draft);
  if (publication === 'damaged') damage(draft, random);
  if (publication === 'cut-short') truncateSync(draft, size >> 1);
  if (publication === 'empty') truncateSync(draft);
  const line = run.replica.logLine('snapshot refused', 'reason', publication);
  renameSync(draft, join(snapshotDir, FILE));
  await line;
  run.count('refused snapshots');
}

/** Changes bytes in the second half of a snapshot, which has the records. */
function damage(draft: string, random: Random): void {
  const bytes = readFileSync(draft);
  for (let i = 0; i < 50; i++) {
    const at = random.between(bytes.length >> 1, bytes.length - 1);
    bytes[at] ^= 1 << random.below(8);
  }
  writeFileSync(draft, bytes);
}

/** Creates a key, and revokes it. The replica accepts it from a poll on, and refuses it from a poll on: never in between. */
async function changeKeys(run: SoakRun, random: Random): Promise<void> {
  const organizationId = random.pick([...run.credentials.keys()]);
  const key = run.keys.create(organizationId, 'soak', new Date());
  const status = () => statusOf(run, formatCredential(key));
  await becomes(run, status, 200, 'a new key');
  for (let i = 0; i < KEY_REQUESTS; i++) {
    const before = await status();
    if (before !== 200) run.fault(`${before} for a valid key`);
    await delay(random.below(10));
  }
  run.keys.revoke(key.keyId, new Date());
  await becomes(run, status, 403, 'a revoked key');
  const after = await status();
  if (after !== 403) run.fault(`${after} for a revoked key that was refused before`);
  run.count('keys created and revoked');
}

/** Polls until a key has a status. The status before it is the opposite one. */
async function becomes(
  run: SoakRun,
  status: () => Promise<number>,
  wanted: number,
  what: string,
): Promise<void> {
  const began = performance.now();
  for (;;) {
    const asked = performance.now();
    const found = await status();
    if (found === wanted) return;
    if (found !== (wanted === 200 ? 403 : 200)) run.fault(`${found} for ${what}`);
    if (asked - began > POLL_SECONDS * 1000 + KEY_MARGIN_MS) {
      run.fault(`${found} for ${what}, ${Math.round(asked - began)} ms after its change`);
      return;
    }
    await delay(50);
  }
}

async function statusOf(run: SoakRun, credential: string): Promise<number> {
  for (;;) {
    const began = performance.now();
    try {
      const headers = { Authorization: `Bearer ${credential}` };
      run.count('requests');
      return (await run.replica.request('/v1/events?perPage=1', false, headers)).status;
    } catch (error) {
      if (!run.replica.lackedWorkerSince(began)) throw error;
      run.count('connections lost with a worker');
      await delay(10);
    }
  }
}

function hangUp(run: SoakRun): void {
  run.replica.signal('SIGHUP');
  run.count('SIGHUPs');
}

async function endWorker(run: SoakRun, random: Random): Promise<void> {
  await run.replica.endWorker({ [DEATH_HEADER]: random.pick(DEATHS) });
  run.count('ended workers');
}

async function checkReadiness(run: SoakRun): Promise<void> {
  const { status, text } = await run.replica.requestAdmin('/readyz');
  if (status !== 200) run.fault(`/readyz: ${status} ${text}`);
}
