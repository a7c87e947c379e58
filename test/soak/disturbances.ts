import { copyFileSync, linkSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { Random } from '../../scripts/sample/random.ts';
import { formatCredential } from '../../src/keys/credential.ts';
import { KeysFile } from '../../src/keys/keys-file.ts';
import type { BusyClientsInput } from '../support/busy-clients.ts';
import { Connection } from '../support/connections.ts';
import type { FloodInput } from '../support/flood.ts';
import type { Death } from '../support/mortal-thread.ts';
import type { LogLine } from '../support/replica-under-test.ts';
import type { SoakRun, Variant } from './soak-run.ts';

/**
 * The events of a soak that must not affect a request: new and refused snapshots, changed keys, signals, ended workers,
 * attacks.
 */

const DEATHS: readonly Death[] = ['throws an error', 'rejects a promise', 'exits'];
const KEY_REQUESTS = 20;

const ATTACK_DURATION_MS = 2000;
const ATTACK_INTERVAL_MS = 6000;

/** Starts all disturbances. Fulfilled when they have ended. */
export async function disturb(run: SoakRun): Promise<void> {
  const every = (intervalMs: number, work: (run: SoakRun, random: Random) => Promise<void> | void) =>
    run.repeat(work.name, async (random) => {
      await run.pause(intervalMs * (0.5 + random.fraction()));
      if (!run.signal.aborted) await work(run, random);
    });
  await Promise.all([
    every(1500, publishNext),
    every(1000, changeKeys),
    every(3000, hangUp),
    every(6000, endWorker),
    every(500, checkReadiness),
    // At once, so that memory has grown by attacks before it is compared.
    run.repeat('attack', async (random) => {
      await attack(run, random);
      await run.pause(ATTACK_INTERVAL_MS);
    }),
  ]);
}

let publications = 0;

/** Publishes a file that is refused, and then two valid snapshots, in turn. */
async function publishNext(run: SoakRun, random: Random): Promise<void> {
  const variant = random.pick(run.variants.filter((one) => one !== run.latest));
  if (publications++ % 3 !== 0) {
    await publish(run, variant);
    return;
  }
  const reason = random.pick(['older', 'damaged'] as const);
  copyFileSync(reason === 'older' ? run.older : variant.path, draftOf(run));
  if (reason === 'damaged') writeFileSync(draftOf(run), damaged(readFileSync(variant.path), random));
  await replaceSnapshot(run, { msg: 'snapshot refused', reason });
  run.count('refused snapshots');
}

/** Publishes a valid snapshot, and waits until it is live. */
export async function publish(run: SoakRun, variant: Variant): Promise<void> {
  const isLive = run.publishes(variant);
  linkSync(variant.path, draftOf(run));
  await replaceSnapshot(run, { msg: 'snapshot live', snapshotId: variant.snapshotId });
  isLive();
  run.count('swaps');
}

/** Puts the draft in the place of the snapshot, and waits for a log line. */
async function replaceSnapshot(run: SoakRun, line: LogLine): Promise<void> {
  const from = run.replica.log.length;
  renameSync(draftOf(run), run.inFolder('snapshots/soak.sqlite'));
  await run.replica.waitForLog(line, from);
}

function draftOf({ inFolder }: SoakRun): string {
  return inFolder('snapshots/.draft');
}

/** Changes bytes in the second half of a snapshot, which has the records. */
function damaged(bytes: Buffer, random: Random): Buffer {
  for (let i = 0; i < 50; i++) {
    const at = random.between(bytes.length >> 1, bytes.length - 1);
    bytes[at] ^= 1 << random.below(8);
  }
  return bytes;
}

/** Creates a key, and revokes it. Each change is in force from the log line on, in all workers; not before the change. */
async function changeKeys(run: SoakRun, random: Random): Promise<void> {
  const keys = new KeysFile(run.inFolder('keys.sqlite'));
  const key = keys.create(random.pick([...run.credentials.keys()]), 'soak', new Date());
  await expectStatus(run, random, formatCredential(key), run.credentials.size + 1, 200);
  keys.revoke(key.keyId, new Date());
  await expectStatus(run, random, formatCredential(key), run.credentials.size, 403);
  run.count('keys created and revoked');
}

/** Waits until a number of keys is valid, and then expects the status of requests with a key. */
async function expectStatus(
  run: SoakRun,
  random: Random,
  credential: string,
  validKeys: number,
  status: number,
): Promise<void> {
  await run.replica.waitForLog({ msg: 'keys live', validKeys }, run.replica.log.length);
  for (let i = 0; i < KEY_REQUESTS; i++) {
    const connection = new Connection(run.replica);
    const answer = await run.ask(connection, '/v1/events?perPage=1', credential);
    connection.close();
    if (answer.status !== status) run.fault(`${answer.status} instead of ${status} for a key`);
    await delay(random.below(10));
  }
}

function hangUp(run: SoakRun): void {
  run.replica.signal('SIGHUP');
  run.count('SIGHUPs');
}

/** Ends a worker by a request, and waits until another one listens. */
async function endWorker(run: SoakRun, random: Random): Promise<void> {
  const { replica } = run;
  const connection = new Connection(replica);
  const from = replica.log.length;
  run.endedAt = performance.now();
  await connection.kill(random.pick(DEATHS));
  connection.close();
  await replica.waitForLog({ msg: 'the new worker listens' }, from);
  run.replacedAt = performance.now();
  run.count('ended workers');
}

async function checkReadiness(run: SoakRun): Promise<void> {
  const { status, text } = await run.replica.requestAdmin('/readyz');
  if (status !== 200) run.fault(`/readyz: ${status} ${text}`);
}

/** Attacks the replica for a time. The other clients are answered as before, and the attack leaves no connection. */
async function attack(run: SoakRun, random: Random): Promise<void> {
  const { port } = run.replica;
  const flood: FloodInput = { port, connections: 16 };
  const busyClients: BusyClientsInput = { port, connections: 300, silentPerSecond: 100 };
  const [program, workerData] = random.pick([
    ['flood.ts', flood],
    ['busy-clients.ts', busyClients],
  ] as const);
  const thread = new Worker(new URL(`../support/${program}`, import.meta.url), { workerData });
  await run.pause(ATTACK_DURATION_MS);
  await thread.terminate();
  run.count('attacks');
}
