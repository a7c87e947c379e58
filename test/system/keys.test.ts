import { mkdirSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { formatCredential, parseCredential } from '../../src/keys/credential.ts';
import { KeysFile } from '../../src/keys/keys-file.ts';
import { run } from '../support/command.ts';
import { build } from '../support/import-folder.ts';
import { ReplicaUnderTest } from '../support/replica-under-test.ts';
import { folderForAll } from '../support/temporary-folder.ts';
import { type Connection, connectionsToEach } from './connections.ts';

const ORGANIZATION = 'theatre-des-trois-ponts';
const THREADS = 2;
const HOUR_MS = 3_600_000;
const PRELOADED = ['mortal-thread.ts', 'shift-clock.ts'].map(
  (file) => `--import=${new URL(file, import.meta.url).href}`,
);

interface KeyStatus {
  readonly keyId: string;
  readonly state: string;
  readonly expiresAt: string | null;
  readonly lastUsedAt: string | null;
}

describe(`The keys of a replica with ${THREADS} workers`, () => {
  const inFolder = folderForAll();
  let replica: ReplicaUnderTest;
  let file: KeysFile;
  let connections: Connection[];

  before(async () => {
    mkdirSync(inFolder('snapshots'));
    await build('data/sample', inFolder('snapshots/sample.sqlite'));
    file = new KeysFile(inFolder('keys.sqlite'));
    file.create(ORGANIZATION, '', new Date());
    replica = await ReplicaUnderTest.start(inFolder, {
      THREADS: String(THREADS),
      NODE_OPTIONS: PRELOADED.join(' '),
      CLOCK_FILE: inFolder('clock'),
      SNAPSHOT_POLL_SECONDS: '3600',
    });
    await replica.waitForLog({ msg: 'snapshot live' });
    connections = await connectionsToEach(replica, THREADS, 1);
  });

  after(async () => {
    for (const connection of connections) connection.close();
    await replica.end();
  });

  /** Polls the keys file, and waits until the keys are in force. */
  async function poll(): Promise<void> {
    const lines = replica.log.length;
    replica.signal('SIGHUP');
    await replica.waitForLog({ msg: 'keys live' }, lines);
  }

  async function keyStatus(keyId: string): Promise<KeyStatus | undefined> {
    const { text } = await replica.requestAdmin('/status');
    const { keys } = JSON.parse(text) as { keys: { list: readonly KeyStatus[] } };
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
  const EXPIRED = ['403 {"detail":"The API key has expired."}'];

  it('expire in every worker without a poll, and their last use is known by the hour', async () => {
    const { keyId, organizationId, secret } = file.create(
      ORGANIZATION,
      'till',
      new Date(),
      new Date(Date.now() + 2 * HOUR_MS),
    );
    const credential = formatCredential({ organizationId, secret });
    await poll();
    expect(await keyStatus(keyId)).to.include({ state: 'valid', lastUsedAt: null });
    expect(await answers(credential)).to.deep.equal(NOT_FOUND);
    const first = Date.parse((await keyStatus(keyId))?.lastUsedAt ?? '');
    expect(first % HOUR_MS).to.equal(0);
    expect(Date.now() - first).to.be.within(0, 1.5 * HOUR_MS);

    writeFileSync(inFolder('clock'), String(HOUR_MS));
    expect(await answers(credential)).to.deep.equal(NOT_FOUND);
    const second = await keyStatus(keyId);
    expect(Date.parse(second?.lastUsedAt ?? '') - first).to.be.oneOf([HOUR_MS, 2 * HOUR_MS]);

    writeFileSync(inFolder('clock'), String(2 * HOUR_MS));
    expect(await answers(credential)).to.deep.equal(EXPIRED);
    expect(await keyStatus(keyId), 'a refused request is no use').to.deep.equal({
      ...second,
      state: 'expired',
    });
    writeFileSync(inFolder('clock'), '0');
  });

  it('are valid side by side during a rotation, then only the new one', async () => {
    const former = file.create(ORGANIZATION, 'till', new Date());
    const command = ['rotate', former.keyId, '--overlap', '2h', '--file', inFolder('keys.sqlite')];
    const { code, stdout } = await run('scripts/keys.ts', command);
    expect(code).to.equal(0);
    const rotated = stdout.trimEnd().split('\n').at(-1) ?? '';
    expect(parseCredential(`Bearer ${rotated}`)?.organizationId).to.equal(ORGANIZATION);
    const { organizationId, secret } = former;
    const replaced = formatCredential({ organizationId, secret });
    await poll();
    expect(await answers(replaced)).to.deep.equal(NOT_FOUND);
    expect(await answers(rotated)).to.deep.equal(NOT_FOUND);
    writeFileSync(inFolder('clock'), String(2 * HOUR_MS));
    expect(await answers(replaced)).to.deep.equal(EXPIRED);
    expect(await answers(rotated)).to.deep.equal(NOT_FOUND);
    writeFileSync(inFolder('clock'), '0');
  });
});
