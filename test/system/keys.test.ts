import { writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { formatCredential } from '../../src/keys/credential.ts';
import { KeysFile } from '../../src/keys/keys-file.ts';
import { type Connection, connectionsToEach, MORTAL } from '../support/connections.ts';
import { placeSample, ReplicaUnderTest, SAMPLE_ORGANIZATION } from '../support/replica-under-test.ts';
import { folderForAll } from '../support/temporary-folder.ts';

const THREADS = 2;
const HOUR_MS = 3_600_000;
const SHIFTED = new URL('../support/shift-clock.ts', import.meta.url).href;

interface KeyStatus {
  readonly keyId: string;
  readonly state: string;
  readonly expiresAt: string | null;
  readonly lastUsedAt: string | null;
}

describe(`The keys of a replica with ${THREADS} workers`, () => {
  const inFolder = folderForAll();
  let replica: ReplicaUnderTest;
  let connections: Connection[];

  before(async () => {
    await placeSample(inFolder);
    replica = await ReplicaUnderTest.startReady(inFolder, {
      THREADS: String(THREADS),
      NODE_OPTIONS: `${MORTAL} --import=${SHIFTED}`,
      CLOCK_FILE: inFolder('clock'),
      SNAPSHOT_POLL_SECONDS: '3600',
    });
    connections = await connectionsToEach(replica, THREADS, 1);
  });

  after(async () => {
    for (const connection of connections) connection.close();
    await replica.end();
  });

  async function statusOf(keyId: string): Promise<KeyStatus | undefined> {
    const { keys } = await replica.status<{ keys: { list: readonly KeyStatus[] } }>();
    return keys.list.find((key) => key.keyId === keyId);
  }

  /** Asks every worker, and returns the distinct answers. */
  async function answers(credential: string): Promise<string[]> {
    const all = await Promise.all(
      connections.map(async (connection) => {
        const { status, text } = await connection.ask('/v1/events/none', credential);
        return `${status} ${text}`;
      }),
    );
    return [...new Set(all)];
  }

  const NOT_FOUND = ['404 {"detail":"There is no such record."}'];

  it('expire in every worker without a poll, and their last use is known by the hour', async () => {
    const expiresAt = new Date(Date.now() + 2 * HOUR_MS);
    const key = new KeysFile(inFolder('keys.sqlite')).create(SAMPLE_ORGANIZATION, '', new Date(), expiresAt);
    const credential = formatCredential(key);
    const lines = replica.log.length;
    replica.signal('SIGHUP');
    await replica.waitForLog({ msg: 'keys live' }, lines);
    expect(await statusOf(key.keyId)).to.include({ state: 'valid', lastUsedAt: null });
    expect(await answers(credential)).to.deep.equal(NOT_FOUND);
    const first = Date.parse((await statusOf(key.keyId))?.lastUsedAt ?? '');
    expect(first % HOUR_MS).to.equal(0);
    expect(Date.now() - first).to.be.within(0, 1.5 * HOUR_MS);

    writeFileSync(inFolder('clock'), String(HOUR_MS));
    expect(await answers(credential)).to.deep.equal(NOT_FOUND);
    const second = await statusOf(key.keyId);
    expect(Date.parse(second?.lastUsedAt ?? '') - first).to.be.oneOf([HOUR_MS, 2 * HOUR_MS]);

    writeFileSync(inFolder('clock'), String(2 * HOUR_MS));
    expect(await answers(credential)).to.deep.equal(['403 {"detail":"The API key has expired."}']);
    const expired = { ...second, state: 'expired' };
    expect(await statusOf(key.keyId), 'a refused request is no use').to.deep.equal(expired);
  });
});
