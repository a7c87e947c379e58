import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { formatCredential } from '../../src/keys/credential.ts';
import { KeysFile } from '../../src/keys/keys-file.ts';
import type { Command as WorkerCommand } from '../../src/workers/protocol.ts';
import { run } from '../support/command.ts';
import { type Connection, connectionsToEach, MORTAL } from '../support/connections.ts';
import { MarkedSnapshots, marksIn } from '../support/marked-snapshots.ts';
import { environmentIn, newCredential, ReplicaUnderTest } from '../support/replica-under-test.ts';
import { type InFolder, folderForAll } from '../support/temporary-folder.ts';
import { STEP } from '../support/mortal-thread.ts';

const THREADS = 2;
/** Pause of each connection between two requests, in which replicas of other tests have the processor. */
const LOAD_PAUSE_MS = 2;
const PAGE = '/v1/tickets?perPage=20';

type Step = WorkerCommand['name'];

describe('A worker that ends when it receives', () => {
  const inFolder = folderForAll();
  let snapshots: MarkedSnapshots;
  let inStage: InFolder;
  let replica: ReplicaUnderTest;
  let credential: string;
  let load: Load;
  let stages = 0;

  before(async () => {
    snapshots = await MarkedSnapshots.build(inFolder);
  });

  const environment = () => ({
    THREADS: String(THREADS),
    NODE_OPTIONS: MORTAL,
    FAULT_FILE: inStage('fault'),
    SHUTDOWN_GRACE_SECONDS: '1',
  });

  /** Makes a folder with the first snapshot and a key. */
  function newStage(): void {
    const stage = inFolder(String(++stages));
    mkdirSync(stage);
    inStage = (file) => join(stage, file);
    snapshots.place(1, inStage);
    credential = newCredential(inStage, 'north');
  }

  async function start(): Promise<void> {
    newStage();
    replica = await ReplicaUnderTest.startReady(inStage, environment());
  }

  const beginLoad = async () => {
    load = new Load(await connectionsToEach(replica, THREADS, 2));
  };
  const endLoad = () => load.end();

  /** Makes the next worker that receives a command end. */
  function endAt(step: Step): void {
    writeFileSync(inStage('draft-step'), step);
    renameSync(inStage('draft-step'), inStage('fault') + STEP);
  }

  /** Requests over all connections until its end. The connections of a worker fail when it ends. */
  class Load {
    readonly statuses = new Set<number>();
    readonly failedThreads = new Set<string>();
    readonly connections: readonly Connection[];
    readonly #loops: readonly Promise<void>[];
    #isDone = false;

    constructor(connections: readonly Connection[]) {
      this.connections = connections;
      this.#loops = connections.map((connection) => this.#ask(connection));
    }

    async #ask(connection: Connection): Promise<void> {
      const { thread } = connection;
      try {
        while (!this.#isDone) {
          this.statuses.add((await connection.ask(PAGE, credential)).status);
          await delay(LOAD_PAUSE_MS);
        }
      } catch {
        this.failedThreads.add(thread);
      }
    }

    async end(): Promise<void> {
      this.#isDone = true;
      await Promise.all(this.#loops);
      for (const connection of this.connections) connection.close();
    }
  }

  /** Expects that the step was taken, and ends the load, all of whose responses succeeded. */
  async function expectTaken(): Promise<void> {
    expect(existsSync(inStage('fault') + STEP), 'the step is still ahead').to.equal(false);
    await load.end();
    expect([...load.statuses]).to.deep.equal([200]);
  }

  /** Waits until workers have ended and were replaced. Expects that only requests to one of them failed. */
  async function expectReplaced(seen: number, count: number): Promise<void> {
    await replica.waitForLog({ msg: 'the new worker listens' }, seen);
    const ended = replica.linesOf({ msg: 'a worker ended and is replaced' }, seen);
    expect(ended, JSON.stringify(ended)).to.have.length(count);
    await expectTaken();
    expect(load.failedThreads.size, 'workers with failed requests').to.be.at.most(1);
  }

  /** Expects the same status from each worker, and from the snapshot `n` all records. */
  async function expectFromEach(status: number, n: number, as = credential): Promise<void> {
    for (const connection of await connectionsToEach(replica, THREADS, 1)) {
      const answer = await connection.ask(PAGE, as);
      expect(answer.status).to.equal(status);
      if (status === 200) expect(new Set(marksIn(answer.text))).to.deep.equal(new Set([n]));
      connection.close();
    }
  }

  describe('in an update:', () => {
    let live = 1;

    before(start);
    beforeEach(beginLoad);
    afterEach(endLoad);
    after(() => replica.end());

    for (const step of ['add-image', 'prepare-view', 'drop-unused-images'] as const satisfies Step[]) {
      it(`${step}, is replaced; the swap succeeds`, async () => {
        const seen = replica.log.length;
        endAt(step);
        await snapshots.publish(replica, ++live, inStage);
        await expectReplaced(seen, 1);
        await expectFromEach(200, live);
      });
    }

    it('replace-keys, is replaced; a new key and a revocation are in force in each worker', async () => {
      const keys = new KeysFile(inStage('keys.sqlite'));
      let key = '';
      for (const [validKeys, status, change] of [
        [2, 200, () => (key = formatCredential(keys.create('north', '', new Date())))],
        [1, 403, () => keys.revoke(keys.list()[1].keyId, new Date())],
      ] as const) {
        const seen = replica.log.length;
        endAt('replace-keys');
        change();
        await replica.waitForLog({ msg: 'keys live', validKeys }, seen);
        await expectReplaced(seen, 1);
        await expectFromEach(status, live, key);
        await expectFromEach(200, live);
        await beginLoad();
      }
    });
  });

  describe('as a replacement:', () => {
    beforeEach(start);
    beforeEach(beginLoad);
    afterEach(endLoad);
    afterEach(() => replica.end());

    for (const step of ['add-image', 'prepare-view', 'replace-keys', 'listen'] as const satisfies Step[]) {
      it(`${step}, is replaced in turn`, async () => {
        const seen = replica.log.length;
        endAt(step);
        await load.connections[0].kill();
        await expectReplaced(seen, 2);
        await expectFromEach(200, 1);
      });
    }
  });

  describe('in the drain:', () => {
    beforeEach(start);
    beforeEach(beginLoad);
    afterEach(endLoad);

    for (const step of ['stop', 'continue-drain'] as const satisfies Step[]) {
      it(`${step}, does not prevent an orderly exit, and fails no request to the other worker`, async () => {
        endAt(step);
        replica.signal('SIGTERM');
        expect(await replica.ended).to.include({ code: 0, signal: null, stderr: '' });
        await expectTaken();
      });
    }
  });

  it('listen, at the start of the process, prevents the start; the process reports the reason', async () => {
    newStage();
    endAt('listen');
    const { code, stderr } = await run('src/main.ts', [], { ...environmentIn(inStage), ...environment() });
    expect(stderr).to.match(/^Error: a worker ended before it listened: Error: a fault at listen\n/);
    expect(code).to.equal(1);
  });
});
