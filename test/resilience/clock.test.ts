import { renameSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { formatCredential } from '../../src/keys/credential.ts';
import { KeysFile } from '../../src/keys/keys-file.ts';
import { connectionsToEach, MORTAL } from '../support/connections.ts';
import { eventually } from '../support/eventually.ts';
import { markedReplicaForEach } from '../support/marked-replica.ts';
import type { Answer, Environment } from '../support/replica-under-test.ts';

const POLL_MS = 50;
const SHIFTED = new URL('../support/shift-clock.ts', import.meta.url).href;
const THREADS = 2;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
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

const NO_SUCH_RECORD = 'There is no such record.';

interface KeyStatus {
  readonly keyId: string;
  readonly state: string;
  readonly lastUsedAt: string | null;
}

describe('A moved wall clock', () => {
  const replica = markedReplicaForEach();
  const { inFolder } = replica;

  const start = (environment: Environment = {}) =>
    replica.start({
      SNAPSHOT_POLL_SECONDS: String(POLL_MS / 1000),
      NODE_OPTIONS: `${MORTAL} --import ${SHIFTED}`,
      CLOCK_FILE: inFolder('clock'),
      ...environment,
    });

  /** Sets the offset of the replica's clock. */
  function moveClock(milliseconds: number): void {
    // A rename, so that the replica never reads a partial file.
    writeFileSync(inFolder('next-clock'), String(milliseconds));
    renameSync(inFolder('next-clock'), inFolder('clock'));
  }

  const snapshotIdOf = ({ headers }: Answer) => headers['service-snapshot-id'];

  async function firstPage() {
    const answer = await replica.ask('/v1/tickets?perPage=2');
    const { nextPage } = JSON.parse(answer.text) as { nextPage: string };
    return { nextPage, snapshotId: snapshotIdOf(answer) };
  }

  /** Requests a target, and drops the parts of the response that depend on the time. */
  async function timeless(target: string): Promise<unknown> {
    const { status, headers, text } = await replica.ask(target);
    const dropped = target.startsWith('/v1/events') ? VOLATILE_OF_EVENTS : VOLATILE_HEADERS;
    return {
      status,
      headers: Object.entries(headers).filter(([name]) => !dropped.includes(name)),
      body: text.replaceAll(/"nextSession(StartAt|Id)":("[^"]*"|null)/g, ''),
    };
  }

  describe('by a day, forward and back,', () => {
    it('changes no response except dates', async () => {
      await start();
      const answers = () => Promise.all(TARGETS.map(timeless));
      const before = await answers();
      for (const move of EACH_MOVE) {
        moveClock(MOVES[move]);
        for (const [i, answer] of (await answers()).entries())
          expect(answer, `${move}: ${TARGETS[i]}`).to.deep.equal(before[i]);
      }
      await eventually(() => {
        const times = Array.from(replica.process.stdout.matchAll(/"time":"([^"]+)"/g), ([, time]) =>
          Date.parse(time),
        );
        return times.some((time) => time < Date.now() - DAY_MS / 2);
      });
    });

    it('does not delay a new snapshot or a revocation', async () => {
      await start();
      const keys = new KeysFile(inFolder('keys.sqlite'));
      for (const move of EACH_MOVE) {
        const key = keys.create('north', '', new Date());
        const isAnswered = (status: number) => async () =>
          (await replica.ask('/v1/events', formatCredential(key))).status === status;
        await eventually(isAnswered(200), POLL_MS);
        moveClock(MOVES[move]);
        await replica.publish();
        keys.revoke(key.keyId, new Date());
        await eventually(isAnswered(403), POLL_MS);
        expect((await replica.ask('/v1/events')).status, move).to.equal(200);
      }
    });

    it('does not end a walk early', async () => {
      await start();
      for (const move of EACH_MOVE) {
        const { nextPage, snapshotId } = await firstPage();
        await replica.publish();
        moveClock(MOVES[move]);
        await delay(3 * POLL_MS);
        expect(snapshotIdOf(await replica.ask(nextPage)), move).to.equal(snapshotId);
      }
    });

    it('does not extend the retention of a replaced snapshot', async () => {
      await start({ SNAPSHOT_RETAIN_MAX_SECONDS: '2' });
      moveClock(MOVES.forward);
      const { nextPage } = await firstPage();
      await replica.publish();
      moveClock(MOVES.back);
      const isReleased = async () => (await replica.ask(nextPage)).status === 400;
      await eventually(isReleased, POLL_MS);
    });
  });

  it('lets a key expire in every worker without a poll, and the status knows its last use by the hour', async () => {
    const expiresAt = new Date(Date.now() + 2 * HOUR_MS);
    const key = new KeysFile(inFolder('keys.sqlite')).create('north', '', new Date(), expiresAt);
    await start({ THREADS: String(THREADS), SNAPSHOT_POLL_SECONDS: '3600' });
    const connections = await connectionsToEach(replica.process, THREADS, 1);
    const statusOfKey = async () => {
      const { keys } = await replica.process.status<{ keys: { list: readonly KeyStatus[] } }>();
      return keys.list.find(({ keyId }) => keyId === key.keyId);
    };
    /** Expects the same answer from each worker. Returns the status of the key after these uses. */
    async function afterAnswers(status: number, detail: string) {
      for (const connection of connections) {
        const answer = await connection.ask('/v1/events/none', formatCredential(key));
        expect(answer).to.include({ status, text: `{"detail":"${detail}"}` });
      }
      return statusOfKey();
    }

    expect(await statusOfKey()).to.include({ state: 'valid', lastUsedAt: null });
    const first = Date.parse((await afterAnswers(404, NO_SUCH_RECORD))?.lastUsedAt ?? '');
    expect(first % HOUR_MS).to.equal(0);
    expect(Date.now() - first).to.be.within(0, 1.5 * HOUR_MS);
    moveClock(HOUR_MS);
    const later = await afterAnswers(404, NO_SUCH_RECORD);
    expect(Date.parse(later?.lastUsedAt ?? '') - first).to.be.oneOf([HOUR_MS, 2 * HOUR_MS]);
    moveClock(2 * HOUR_MS);
    const expired = await afterAnswers(403, 'The API key has expired.');
    expect(expired, 'a refused request is no use').to.deep.equal({ ...later, state: 'expired' });
    for (const connection of connections) connection.close();
  });
});
