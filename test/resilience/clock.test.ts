import { renameSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { formatCredential } from '../../src/keys/credential.ts';
import { KeysFile } from '../../src/keys/keys-file.ts';
import { MarkedSnapshots } from '../support/marked-snapshots.ts';
import {
  type Answer,
  type Environment,
  newCredential,
  ReplicaUnderTest,
} from '../support/replica-under-test.ts';
import { folderForAll, folderForEach } from '../support/temporary-folder.ts';

const POLL_SECONDS = 0.05;
const SHIFTED = new URL('../support/shift-clock.ts', import.meta.url).href;
const DAY_MS = 86_400_000;
/** Offsets of the moved clock, in milliseconds. */
const MOVES = { forward: DAY_MS, back: -DAY_MS } as const;
const EACH_MOVE = ['forward', 'back'] as const;

/** Headers that differ between requests, connections or times. */
const VOLATILE_HEADERS = ['date', 'x-request-id', 'ratelimit', 'connection', 'keep-alive'];
/** An event has its next session, which depends on the time. */
const VOLATILE_OF_EVENTS = [...VOLATILE_HEADERS, 'etag', 'content-length'];

const TARGETS = [
  '/v1/tickets?perPage=7&page=2',
  '/v1/tickets?page=999',
  '/v1/tickets?updatedAt.gte=2020-01-01T00:00:00Z',
  '/v1/tickets/none',
  '/v1/orders?status=FULFILLED',
  '/v1/orders?page=0',
  '/v1/events?startAt.gte=2020-01-01T00:00:00Z',
  '/v1/catalog/offers',
  '/v1/none',
  '/openapi.json',
];

describe('A wall clock moved by a day, forward and back,', () => {
  const inSource = folderForAll();
  const inFolder = folderForEach();
  let snapshots: MarkedSnapshots;
  let credential: string;
  let replica: ReplicaUnderTest;
  let latest: number;

  before(async () => {
    snapshots = await MarkedSnapshots.build(inSource);
  });

  afterEach(() => {
    replica.signal('SIGKILL');
  });

  async function start(environment: Environment = {}): Promise<void> {
    latest = 1;
    snapshots.place(latest, inFolder);
    credential = newCredential(inFolder, 'north');
    replica = await ReplicaUnderTest.startReady(inFolder, {
      SNAPSHOT_POLL_SECONDS: String(POLL_SECONDS),
      NODE_OPTIONS: `--import ${SHIFTED}`,
      CLOCK_FILE: inFolder('clock'),
      ...environment,
    });
  }

  /** Sets the replica's clock a day ahead or behind. */
  function moveClock(move: keyof typeof MOVES): void {
    // A rename, so that the replica never reads a partial file.
    writeFileSync(inFolder('next-clock'), String(MOVES[move]));
    renameSync(inFolder('next-clock'), inFolder('clock'));
  }

  const publish = () => snapshots.publish(replica, ++latest, inFolder);

  const ask = (target: string, as = credential) =>
    replica.request(target, as, { 'Service-API-Version': 'preview' });
  const snapshotIdOf = ({ headers }: Answer) => headers['service-snapshot-id'];

  async function firstPage() {
    const answer = await ask('/v1/tickets?perPage=2');
    const { nextPage } = JSON.parse(answer.text) as { nextPage: string };
    return { nextPage, snapshotId: snapshotIdOf(answer) };
  }

  /** Requests a target, and drops the parts of the response that depend on the time. */
  async function timeless(target: string): Promise<unknown> {
    const { status, headers, text } = await ask(target);
    const dropped = target.startsWith('/v1/events') ? VOLATILE_OF_EVENTS : VOLATILE_HEADERS;
    return {
      status,
      headers: Object.entries(headers).filter(([name]) => !dropped.includes(name)),
      body: text.replaceAll(/"nextSession(StartAt|Id)":("[^"]*"|null)/g, ''),
    };
  }

  it('changes no response except dates', async () => {
    await start();
    const answers = () => Promise.all(TARGETS.map(timeless));
    const before = await answers();
    for (const move of EACH_MOVE) {
      moveClock(move);
      for (const [i, answer] of (await answers()).entries())
        expect(answer, `${move}: ${TARGETS[i]}`).to.deep.equal(before[i]);
    }
    await until('the clock of a worker is behind', () => {
      const times = Array.from(replica.stdout.matchAll(/"time":(\d+)/g), ([, time]) => Number(time));
      return times.some((time) => time < Date.now() - DAY_MS / 2);
    });
  });

  it('does not lengthen or shorten the rate limit window', async () => {
    await start({ RATE_LIMIT_PER_MINUTE: '2' });
    const secondsLeft = ({ headers }: Answer) => Number(/t=(\d+)$/.exec(String(headers['ratelimit']))?.[1]);
    let left = 60;
    for (let i = 0; i < 2; i++) left = secondsLeft(await ask('/v1/events'));
    expect(left).to.be.within(1, 60);
    for (const move of EACH_MOVE) {
      moveClock(move);
      const refused = await ask('/v1/events');
      expect(refused.status, move).to.equal(429);
      expect(secondsLeft(refused), move).to.be.within(left - 30, left);
      expect(Number(refused.headers['retry-after']), move).to.equal(secondsLeft(refused));
      left = secondsLeft(refused);
    }
  });

  it('does not delay a new snapshot or a revocation', async () => {
    await start();
    const keys = new KeysFile(inFolder('keys.sqlite'));
    for (const move of EACH_MOVE) {
      const key = keys.create('north', '', new Date());
      const other = formatCredential(key);
      await until(
        `the new key is valid: ${move}`,
        async () => (await ask('/v1/events', other)).status === 200,
      );
      moveClock(move);
      await publish();
      keys.revoke(key.keyId, new Date());
      await until(`the key is revoked: ${move}`, async () => (await ask('/v1/events', other)).status === 403);
      expect((await ask('/v1/events')).status, move).to.equal(200);
    }
  });

  it('does not end a walk early', async () => {
    await start();
    for (const move of EACH_MOVE) {
      const { nextPage, snapshotId } = await firstPage();
      await publish();
      moveClock(move);
      await delay(3 * POLL_SECONDS * 1000);
      expect(snapshotIdOf(await ask(nextPage)), move).to.equal(snapshotId);
    }
  });

  it('does not extend the retention of a replaced snapshot', async () => {
    await start({ SNAPSHOT_RETAIN_MAX_SECONDS: '2' });
    moveClock('forward');
    const { nextPage } = await firstPage();
    await publish();
    moveClock('back');
    await until('the replaced snapshot is released', async () => (await ask(nextPage)).status === 400);
  });

  /** Polls until a condition holds, for at most 5 seconds: many polls of the replica. */
  async function until(expected: string, condition: () => boolean | Promise<boolean>): Promise<void> {
    const deadline = performance.now() + 5000;
    while (!(await condition())) {
      if (performance.now() > deadline) expect.fail(`too late: ${expected}`);
      await delay(POLL_SECONDS * 1000);
    }
  }
});
