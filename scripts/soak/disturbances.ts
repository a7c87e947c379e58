import {
  copyFileSync,
  linkSync,
  readFileSync,
  renameSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { formatCredential } from '../../src/keys/credential.ts';
import type { BusyClientsInput } from '../../test/resilience/busy-clients.ts';
import type { FloodInput } from '../../test/resilience/flood.ts';
import { DEATH_HEADER, type Death } from '../../test/system/mortal-thread.ts';
import { type Random, ShuffleBag } from '../sample/random.ts';
import type { Variant } from './content.ts';
import { POLL_SECONDS } from './soak-replica.ts';
import type { SoakRun } from './soak-run.ts';

/**
 * The events of a soak that must not affect a request: new and refused snapshots, changed keys, signals, ended workers,
 * attacks from other addresses.
 */

const FILE = 'soak.sqlite';
const DEATHS: readonly Death[] = ['throws an error', 'rejects a promise', 'exits'];
/** Time for a changed key after the next poll. It takes milliseconds on a machine that is not busy. */
const KEY_MARGIN_MS = 5000;
const KEY_REQUESTS = 20;

/** Addresses of the attackers. */
const ATTACKERS = ['127.0.0.2', '127.0.0.3'] as const;
const UNREAD_DOCUMENTS = 'GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(30);
const ATTACK_DURATION_MS = 2000;

/** Intervals between two events of a kind, in milliseconds. */
const [PUBLISH_MS, KEY_MS, HANGUP_MS, DEATH_MS, READY_MS, ATTACK_MS] = [1500, 1000, 3000, 6000, 500, 6000];

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
    // At once, so that memory has grown by attacks before it is compared.
    run.repeat('attack', async (random) => {
      await attack(run, random);
      await run.pause(ATTACK_MS);
    }),
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

/** Creates a key, and revokes it. Each change is in force from the log line on, in all workers; not before the change. */
async function changeKeys(run: SoakRun, random: Random): Promise<void> {
  const organizationId = random.pick([...run.credentials.keys()]);
  const valid = run.credentials.size;
  const created = run.replica.logLine('keys live', 'validKeys', valid + 1);
  const key = run.keys.create(organizationId, 'soak', new Date());
  await inForce(run, created);
  const expectStatus = async (status: number) => {
    const found = await statusOf(run, formatCredential(key));
    if (found !== status) run.fault(`${found} instead of ${status} for a key`);
    await delay(random.below(10));
  };
  for (let i = 0; i < KEY_REQUESTS; i++) await expectStatus(200);
  const revoked = run.replica.logLine('keys live', 'validKeys', valid);
  run.keys.revoke(key.keyId, new Date());
  await inForce(run, revoked);
  for (let i = 0; i < KEY_REQUESTS; i++) await expectStatus(403);
  run.count('keys created and revoked');
}

async function inForce(run: SoakRun, isLive: Promise<unknown>): Promise<void> {
  const began = performance.now();
  await isLive;
  const milliseconds = performance.now() - began;
  if (milliseconds > POLL_SECONDS * 1000 + KEY_MARGIN_MS) {
    run.fault(`a changed key was in force after ${Math.round(milliseconds)} ms`);
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
      if (!run.replica.isLost(undefined, began)) throw error;
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

/** Attacks the replica for a time. The other clients are answered as before, and the attack leaves no connection. */
async function attack(run: SoakRun, random: Random): Promise<void> {
  const { port } = run.replica;
  const [from] = ATTACKERS;
  const flood: FloodInput = { port, from, connections: 16, reads: random.chance(0.5), credential: undefined };
  const busyClients: BusyClientsInput = { port, from: ATTACKERS, connections: 300, silentPerSecond: 100 };
  const [program, workerData] = random.pick([
    ['flood.ts', flood],
    ['busy-clients.ts', busyClients],
    ['', undefined],
  ] as const);
  if (program === '') {
    const unread = Array.from({ length: 200 }, () =>
      connect({ port, host: '127.0.0.1', localAddress: from }),
    );
    for (const socket of unread)
      socket
        .on('error', () => undefined)
        .pause()
        .write(UNREAD_DOCUMENTS);
    await run.pause(ATTACK_DURATION_MS);
    for (const socket of unread) socket.destroy();
  } else {
    const thread = new Worker(new URL(`../../test/resilience/${program}`, import.meta.url), { workerData });
    await run.pause(ATTACK_DURATION_MS);
    await thread.terminate();
  }
  run.count('attacks');
}
