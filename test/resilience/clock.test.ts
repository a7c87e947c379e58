import { cpSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { folderForAll, folderForEach } from '../support/temporary-folder.ts';
import { formatCredential } from '../../src/keys/credential.ts';
import { KeysFile } from '../../src/keys/keys-file.ts';
import { build } from '../support/import-folder.ts';
import { newCredential, ReplicaUnderTest } from '../support/replica-under-test.ts';

const ORGANIZATION = 'theatre-des-trois-ponts';
const POLL_SECONDS = 0.05;
const PRELOADED = new URL('../system/shift-clock.ts', import.meta.url).href;

const DAY_MS = 86_400_000;
/** Offsets of the moved clock, in milliseconds. */
const MOVES = { forward: DAY_MS, back: -DAY_MS } as const;
type Move = keyof typeof MOVES;
const EACH_MOVE = ['forward', 'back'] as const satisfies readonly Move[];

/** Headers that differ between requests, connections or times. */
const VOLATILE_HEADERS = ['date', 'x-request-id', 'ratelimit', 'connection', 'keep-alive'];

const TARGETS = [
  '/v1/tickets?perPage=7',
  '/v1/tickets?perPage=7&page=2',
  '/v1/tickets?page=999',
  '/v1/tickets?updatedAt.gte=2020-01-01T00:00:00Z',
  '/v1/tickets/none',
  '/v1/orders?status=FULFILLED',
  '/v1/orders?page=0',
  '/v1/events',
  '/v1/events?startAt.gte=2020-01-01T00:00:00Z',
  '/v1/catalog/offers',
  '/v1/none',
  '/openapi.json',
];

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

describe('A wall clock moved by a day, forward and back,', () => {
  const inSource = folderForAll();
  const inFolder = folderForEach();
  let credential: string;
  let replica: ReplicaUnderTest;

  before(async () => {
    cpSync('data/sample', inSource('import'), { recursive: true });
    mkdirSync(inSource('snapshots'));
    await build(inSource('import'), inSource('snapshots/sample.sqlite'));
    credential = newCredential(inSource, ORGANIZATION);
  });

  beforeEach(() => {
    cpSync(inSource('.'), inFolder('.'), { recursive: true });
  });

  afterEach(() => {
    replica.signal('SIGKILL');
  });

  async function start(overrides: Readonly<Record<string, string>> = {}): Promise<void> {
    replica = await ReplicaUnderTest.start(inFolder, {
      SNAPSHOT_POLL_SECONDS: String(POLL_SECONDS),
      NODE_OPTIONS: `--import ${PRELOADED}`,
      CLOCK_FILE: inFolder('clock'),
      ...overrides,
    });
    await replica.waitForLog({ msg: 'keys live' });
    await replica.waitForLog({ msg: 'snapshot live' });
  }

  /** Sets the replica's clock a day ahead or behind. */
  function moveClock(move: Move): void {
    // A rename, so that the replica never reads a partial file.
    writeFileSync(inFolder('next-clock'), String(MOVES[move]));
    renameSync(inFolder('next-clock'), inFolder('clock'));
  }

  /** Publishes a snapshot that lacks a ticket of the organization, and waits until it is live. */
  async function publishChange(): Promise<void> {
    const seen = replica.log.length;
    const lines = readFileSync(inFolder('import/tickets.ndjson'), 'utf8').split('\n');
    lines.splice(
      lines.findIndex((line) => line.includes(ORGANIZATION)),
      1,
    );
    writeFileSync(inFolder('import/tickets.ndjson'), lines.join('\n'));
    await build(inFolder('import'), inFolder('beside'));
    renameSync(inFolder('beside'), inFolder('snapshots/sample.sqlite'));
    await replica.waitForLog({ msg: 'snapshot live' }, seen);
  }

  const keys = () => new KeysFile(inFolder('keys.sqlite'));

  function createKey(): { credential: string; keyId: string } {
    const key = keys().create(ORGANIZATION, '', new Date());
    return { credential: formatCredential(key), keyId: key.keyId };
  }

  async function ask(target: string, as = credential): Promise<Answer> {
    const response = await fetch(target.startsWith('http') ? target : replica.origin + target, {
      headers: {
        Authorization: `Bearer ${as}`,
        'Service-API-Version': 'preview',
      },
    });
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body: await response.text(),
    };
  }

  /** Requests a target, and drops the parts of the response that depend on the time: an event's next session, too. */
  async function timeless(target: string): Promise<unknown> {
    const { status, headers, body } = await ask(target);
    const dropped = VOLATILE_HEADERS.concat(
      target.startsWith('/v1/events') ? ['etag', 'content-length'] : [],
    );
    return {
      status,
      headers: Object.entries(headers).filter(([name]) => !dropped.includes(name)),
      body: body.replaceAll(/"nextSession(StartAt|Id)":("[^"]*"|null)/g, ''),
    };
  }

  it('changes no response except dates', async () => {
    await start();
    const answers = () => Promise.all(TARGETS.map(timeless));
    const before = await answers();
    for (const move of EACH_MOVE) {
      moveClock(move);
      for (const [i, answer] of (await answers()).entries()) {
        expect(answer, `${move}: ${TARGETS[i]}`).to.deep.equal(before[i]);
      }
    }
    const isBehind = () => {
      const times = Array.from(replica.stdout.matchAll(/"time":(\d+)/g), ([, time]) => Number(time));
      return Promise.resolve(times.some((time) => time < Date.now() - DAY_MS / 2));
    };
    await until(isBehind, 'the clock of a worker is behind');
  });

  it('does not lengthen or shorten the rate limit window', async () => {
    await start({ RATE_LIMIT_PER_MINUTE: '2' });
    const secondsLeft = ({ headers }: Answer) => Number(/t=(\d+)$/.exec(headers['ratelimit'] ?? '')?.[1]);
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
    for (const move of EACH_MOVE) {
      const { credential: other, keyId } = createKey();
      await until(async () => (await ask('/v1/events', other)).status === 200, move);
      moveClock(move);
      const before = (await ask('/v1/tickets')).headers['service-snapshot-id'];
      await publishChange();
      expect((await ask('/v1/tickets')).headers['service-snapshot-id'], move).not.to.equal(before);
      keys().revoke(keyId, new Date());
      await until(async () => (await ask('/v1/events', other)).status === 403, move);
      expect((await ask('/v1/events')).status, move).to.equal(200);
    }
  });

  it('does not end a walk early', async () => {
    await start();
    for (const move of EACH_MOVE) {
      const first = await ask('/v1/tickets?perPage=2');
      const { nextPage } = JSON.parse(first.body) as { nextPage: string };
      await publishChange();
      moveClock(move);
      await delay(3 * POLL_SECONDS * 1000);
      const second = await ask(nextPage);
      expect(second.headers['service-snapshot-id'], move).to.equal(first.headers['service-snapshot-id']);
    }
  });

  it('does not extend the retention of a replaced snapshot', async () => {
    await start({ SNAPSHOT_RETAIN_MAX_SECONDS: '2' });
    moveClock('forward');
    const first = await ask('/v1/tickets?perPage=2');
    const { nextPage } = JSON.parse(first.body) as { nextPage: string };
    await publishChange();
    moveClock('back');
    const isReleased = async () => (await ask(nextPage)).status === 400;
    await until(isReleased, 'the release of the replaced snapshot');
  });

  /** Polls until a condition holds, for at most 5 seconds: many polls of the replica. */
  async function until(condition: () => Promise<boolean>, expected: string): Promise<void> {
    const deadline = performance.now() + 5000;
    while (!(await condition())) {
      if (performance.now() > deadline) expect.fail(`too late: ${expected}`);
      await delay(POLL_SECONDS * 1000);
    }
  }
});
