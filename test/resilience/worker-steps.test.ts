import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { formatCredential } from '../../src/keys/credential.ts';
import { KeysFile } from '../../src/keys/keys-file.ts';
import type { Command as WorkerCommand } from '../../src/workers/protocol.ts';
import { run } from '../support/command.ts';
import { build, writeImport } from '../support/import-folder.ts';
import { newCredential, ReplicaUnderTest } from '../support/replica-under-test.ts';
import { type InFolder, folderForAll } from '../support/temporary-folder.ts';
import { alteredCopy, asSnapshot, snapshotIdOf } from '../system/altered-snapshot.ts';
import { type Connection, connectionsToEach } from '../system/connections.ts';
import { markedAs, markedImport, marksIn } from '../system/marked-import.ts';
import { DEATH_HEADER, STEP } from '../system/mortal-thread.ts';

const PRELOADED = new URL('../system/mortal-thread.ts', import.meta.url).href;
const THREADS = 2;
const FILE = 'north.sqlite';
/** Pause of each connection between two requests, in which replicas of other tests have the processor. */
const LOAD_PAUSE_MS = 2;

type Step = WorkerCommand['name'];

describe('A worker that ends when it receives', () => {
  const inFolder = folderForAll();
  let inStage: InFolder;
  let replica: ReplicaUnderTest;
  let credential: string;
  let connections: Connection[];
  let load: Load;
  let stages = 0;

  before(async () => {
    writeImport(inFolder('import'), markedImport(['north'], 0));
    await build(inFolder('import'), inFolder('built'));
  });

  const environment = () => ({
    THREADS: String(THREADS),
    NODE_OPTIONS: `--import=${PRELOADED}`,
    FAULT_FILE: inStage('fault'),
  });

  function newStage(): void {
    const stage = ++stages;
    inStage = (file) => inFolder(`${stage}-${file}`);
    mkdirSync(inStage('snapshots'));
  }

  async function start(): Promise<void> {
    newStage();
    credential = newCredential(inStage, 'north');
    renameSync(drafted(1), join(inStage('snapshots'), FILE));
    replica = await ReplicaUnderTest.start(inStage, { ...environment(), SHUTDOWN_GRACE_SECONDS: '1' });
    await replica.waitForLog({ msg: 'keys live' });
    await replica.waitForLog({ msg: 'snapshot live' });
  }

  async function beginLoad(): Promise<void> {
    connections = await connectionsToEach(replica, THREADS, 2);
    load = new Load();
  }

  async function endLoad(): Promise<void> {
    await load.end();
    for (const connection of connections) connection.close();
  }

  /** Makes the `n`th snapshot, with `n` as the mark of every record. */
  const drafted = (n: number) => alteredCopy(inFolder('built'), inStage('draft'), asSnapshot(n), markedAs(n));

  /** Publishes the `n`th snapshot, and waits until it is live. */
  async function publish(n: number): Promise<void> {
    renameSync(drafted(n), join(inStage('snapshots'), FILE));
    await replica.waitForLog({ msg: 'snapshot live', snapshotId: snapshotIdOf(n) });
  }

  /** Makes the next worker that receives a command end. */
  function endAt(step: Step): void {
    writeFileSync(inStage('draft-step'), step);
    renameSync(inStage('draft-step'), inStage('fault') + STEP);
  }

  /** Requests over all connections until its end. The connections of a worker fail when it ends. */
  class Load {
    readonly statuses = new Set<number>();
    readonly failedThreads = new Set<string>();
    #isDone = false;
    readonly #loops = connections.map(async (connection) => {
      while (!this.#isDone) {
        const { thread } = connection;
        try {
          this.statuses.add((await connection.ask('/v1/tickets?perPage=20', credential)).status);
          await delay(LOAD_PAUSE_MS);
        } catch {
          this.failedThreads.add(thread);
          return;
        }
      }
    });

    async end(): Promise<void> {
      this.#isDone = true;
      await Promise.all(this.#loops);
    }
  }

  /** Waits until workers have ended and were replaced. Expects that only requests to them failed. */
  async function expectReplaced(seen: number, count: number): Promise<void> {
    await replica.waitForLog({ msg: 'the new worker listens' }, seen);
    const ended = replica.linesOf({ msg: 'a worker ended and is replaced' }, seen);
    expect(ended, JSON.stringify(ended)).to.have.length(count);
    expect(existsSync(inStage('fault') + STEP), 'the step is still ahead').to.equal(false);
    await load.end();
    expect([...load.statuses]).to.deep.equal([200]);
    expect(load.failedThreads.size, 'workers with failed requests').to.be.at.most(1);
  }

  /** Expects the same status from each worker, and from the snapshot `n` all records. */
  async function expectFromEach(status: number, n: number, as = credential): Promise<void> {
    const current = await connectionsToEach(replica, THREADS, 1);
    for (const connection of current) {
      const answer = await connection.ask('/v1/tickets?perPage=20', as);
      expect(answer.status).to.equal(status);
      if (status === 200) expect(new Set(marksIn(answer.text))).to.deep.equal(new Set([n]));
      connection.close();
    }
  }

  describe('in an update:', () => {
    const SWAP_STEPS: readonly Step[] = ['add-image', 'prepare-view', 'drop-unused-images'];
    let live = 1;

    before(start);
    beforeEach(beginLoad);
    afterEach(endLoad);
    after(() => replica.end());

    for (const step of SWAP_STEPS) {
      it(`${step}, is replaced; the swap succeeds`, async () => {
        const seen = replica.log.length;
        endAt(step);
        await publish(++live);
        await expectReplaced(seen, 1);
        await expectFromEach(200, live);
      });
    }

    it('replace-keys, is replaced; a new key and a revocation are in force in each worker', async () => {
      const keys = new KeysFile(inStage('keys.sqlite'));
      const seen = replica.log.length;
      endAt('replace-keys');
      const key = keys.create('north', '', new Date());
      await replica.waitForLog({ msg: 'keys live', validKeys: 2 });
      await expectReplaced(seen, 1);
      await expectFromEach(200, live, formatCredential(key));

      const seenAgain = replica.log.length;
      endAt('replace-keys');
      keys.revoke(key.keyId, new Date());
      await replica.waitForLog({ msg: 'keys live', validKeys: 1 }, seenAgain);
      await expectReplaced(seenAgain, 1);
      await expectFromEach(403, live, formatCredential(key));
      await expectFromEach(200, live);
    });
  });

  describe('as a replacement:', () => {
    const JOIN_STEPS: readonly Step[] = ['add-image', 'prepare-view', 'replace-keys', 'listen'];

    beforeEach(start);
    beforeEach(beginLoad);
    afterEach(endLoad);
    afterEach(() => replica.end());

    for (const step of JOIN_STEPS) {
      it(`${step}, is replaced in turn`, async () => {
        const seen = replica.log.length;
        endAt(step);
        await connections[0].ask('/healthz', '', { [DEATH_HEADER]: 'exits' }).catch(() => undefined);
        await expectReplaced(seen, 2);
        await expectFromEach(200, 1);
      });
    }
  });

  describe('in the drain:', () => {
    const DRAIN_STEPS: readonly Step[] = ['stop', 'continue-drain'];

    beforeEach(start);
    beforeEach(beginLoad);
    afterEach(endLoad);

    for (const step of DRAIN_STEPS) {
      it(`${step}, does not prevent an orderly exit, and fails no request to the other worker`, async () => {
        endAt(step);
        replica.signal('SIGTERM');
        expect(await replica.ended).to.include({ code: 0, signal: null, stderr: '' });
        expect(existsSync(inStage('fault') + STEP), 'the step is still ahead').to.equal(false);
        await load.end();
        expect([...load.statuses]).to.deep.equal([200]);
      });
    }
  });

  it('listen, at the start of the process, prevents the start; the process reports the reason', async () => {
    newStage();
    endAt('listen');
    const { code, stderr } = await run('src/main.ts', [], {
      ...environment(),
      PORT: '0',
      ADMIN_PORT: '0',
      HOST: '127.0.0.1',
      SNAPSHOT_DIR: inStage('snapshots'),
      KEYS_FILE: inStage('keys.sqlite'),
    });
    expect(stderr).to.match(/^Error: a worker ended before it listened: Error: a fault at listen\n/);
    expect(code).to.equal(1);
  });
});
