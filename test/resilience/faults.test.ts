import {
  appendFileSync,
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { Random } from '../../scripts/sample/random.ts';
import { snapshotIdOf } from '../support/altered-snapshot.ts';
import { Command } from '../support/command.ts';
import { MarkedSnapshots, marksIn } from '../support/marked-snapshots.ts';
import { times } from '../support/records.ts';
import { newCredential, ReplicaUnderTest } from '../support/replica-under-test.ts';
import { folderForAll } from '../support/temporary-folder.ts';
import { type Fault, FAULTY_LOADER, RESUME, WAITING } from './faulty-loader.ts';

const HEAP_MB = 96;
const SEED = 20_261_121;
const BLOCK = 4096;
const PREVIEW = { 'Service-API-Version': 'preview' };

const exited = (code: number) =>
  new RegExp(`^the loader failed: it exited with code ${code} before it was done$`);

/** The faults of a load, and the reason and detail of the refusal. */
const FAILURES: readonly (readonly [Fault, reason: string, detail: RegExp])[] = [
  ['throws at startup', 'loader-failed', /^the loader failed: a fault at startup$/],
  ['exits at startup', 'loader-failed', exited(3)],
  ['runs out of memory', 'loader-failed', /^the loader failed: .*memory/],
  ['exits after it has declared the snapshot', 'loader-failed', exited(4)],
  ['throws while it reads', 'loader-failed', /^the loader failed: a fault while reading$/],
  ['throws a string while it reads', 'loader-failed', /^the loader failed: a string$/],
  ['exits while it reads', 'loader-failed', exited(0)],
  ['gets an I/O error while it reads', 'unreadable', /disk I\/O error \(SQLITE_IOERR_READ\)/],
];

/** Loads that do not end, as on a disk that does not respond. The second thread cannot be ended either. */
const ENDLESS: readonly Fault[] = [
  'waits before it reads tickets',
  'is blocked in the system before it reads orders',
];

/** Together, these cover every record of an organization. */
const PATHS = [
  '/v1/tickets?perPage=50',
  '/v1/tickets?perPage=50&page=2',
  '/v1/orders?perPage=100',
  '/v1/events',
  '/v1/events/evt_1/sessions',
  '/v1/catalog/offers',
];

describe('A replica with faults', () => {
  const inFolder = folderForAll();
  const FILE = 'north.sqlite';
  const place = () => inFolder(`snapshots/${FILE}`);
  let snapshots: MarkedSnapshots;
  let replica: ReplicaUnderTest;
  let credential: string;
  let next = 1;
  let live = 0;

  before(async () => {
    snapshots = await MarkedSnapshots.build(inFolder);
    credential = newCredential(inFolder, 'north');
  });

  async function start(environment = {}): Promise<void> {
    replica = await ReplicaUnderTest.start(inFolder, {
      NODE_OPTIONS: `${FAULTY_LOADER} --max-old-space-size=${HEAP_MB}`,
      FAULT_FILE: inFolder('fault'),
      ...environment,
    });
    await goLive();
  }

  /** Sets or removes the fault of the next loads. */
  function setFault(fault?: Fault): void {
    rmSync(inFolder('fault'), { force: true });
    if (fault === undefined) return;
    writeFileSync(inFolder('draft-fault'), fault);
    renameSync(inFolder('draft-fault'), inFolder('fault'));
  }

  /** Publishes a valid snapshot, and expects it to go live: the process has recovered from the fault. */
  async function goLive(): Promise<void> {
    setFault();
    const n = next++;
    await snapshots.publish(replica, n);
    await expectServed(n);
  }

  /** Expects every response to come from one snapshot. */
  async function expectServed(n: number, what = ''): Promise<void> {
    for (const path of PATHS) {
      const { status, headers, text } = await replica.request(path, credential, PREVIEW);
      expect(status, what).to.equal(200);
      expect(headers['service-snapshot-id'], what).to.equal(snapshotIdOf(n));
      expect([...new Set(marksIn(text))], `${what}: ${path}`).to.deep.equal([n]);
    }
    live = n;
  }

  /** Publishes a snapshot whose load has a fault, and expects a refusal, after which the process serves as before. */
  async function expectRefused(fault: Fault, reason: string, detail: RegExp): Promise<void> {
    setFault(fault);
    const seen = replica.log.length;
    snapshots.place(next++);
    const line = await replica.waitForLog({ msg: 'snapshot refused', file: FILE }, seen);
    expect(line['detail']).to.match(detail);
    expect(line['reason']).to.equal(reason);
    expect(replica.isRunning).to.equal(true);
    await expectServed(live);
    expect(await replica.metric(`foyer_snapshot_refusals_total{reason="${reason}"}`)).to.be.above(0);
  }

  describe('refuses the snapshot, and then loads the next one, when the loader', () => {
    before(() => start());
    afterEach(goLive);
    after(() => replica.end());

    for (const [fault, reason, detail] of FAILURES) it(fault, () => expectRefused(fault, reason, detail));
  });

  describe('refuses the snapshot after LOAD_TIMEOUT_SECONDS, and then loads the next one, when the loader', () => {
    before(() => start({ LOAD_TIMEOUT_SECONDS: '3' }));
    afterEach(goLive);
    after(() => replica.end());

    for (const fault of ENDLESS)
      it(fault, () => expectRefused(fault, 'timeout', /^it was not loaded within 3 s$/));
  });

  describe(`serves only complete snapshots when the file changes during a load (seed ${SEED}):`, () => {
    const random = new Random(SEED);
    const WAITS: readonly Fault[] = [
      'waits before it reads events',
      'waits before it reads tickets',
      'waits before it reads orders',
      'waits before it reads offers',
    ];
    const blocksOf = (bytes: Buffer) => Math.ceil(bytes.length / BLOCK);
    const halfOf = (bytes: Buffer) => blocksOf(bytes) >> 1;

    function writeBlocks(path: string, bytes: Buffer, blocks: readonly number[]): void {
      const file = openSync(path, 'r+');
      try {
        for (const block of blocks) {
          const start = block * BLOCK;
          writeSync(file, bytes, start, Math.min(BLOCK, bytes.length - start), start);
        }
      } finally {
        closeSync(file);
      }
    }

    /** Changes to the file; `other` has the bytes of another valid snapshot of the same size. */
    const CHANGES: Readonly<Record<string, (path: string, other: Buffer) => void>> = {
      'all of another snapshot': (path, other) => {
        writeBlocks(path, other, times(blocksOf(other), Number));
      },
      'the first half of another': (path, other) => {
        writeBlocks(path, other, times(halfOf(other), Number));
      },
      'random blocks of another': (path, other) => {
        writeBlocks(
          path,
          other,
          times(halfOf(other), () => random.below(blocksOf(other))),
        );
      },
      'blocks of zeros': (path, other) => {
        writeBlocks(
          path,
          Buffer.alloc(other.length),
          times(9, () => random.below(blocksOf(other))),
        );
      },
      'a truncation to one half': (path, other) => {
        truncateSync(path, other.length >> 1);
      },
      'another snapshot, renamed over it': (path, other) => {
        writeFileSync(inFolder('renamed'), other);
        renameSync(inFolder('renamed'), path);
      },
      'another snapshot, appended to it': (path, other) => {
        appendFileSync(path, other);
      },
      'its removal': (path) => {
        rmSync(path);
      },
    };

    before(() => start());
    afterEach(goLive);
    after(() => replica.end());

    /** Starts a load that pauses before it reads the content. Returns the number of its snapshot. */
    async function beginLoad(fault: Fault): Promise<number> {
      rmSync(inFolder('fault') + WAITING, { force: true });
      setFault(fault);
      const n = next++;
      snapshots.place(n);
      while (!existsSync(inFolder('fault') + WAITING)) await delay(2);
      setFault();
      return n;
    }

    /** Resumes the load. The retries of the changed file fail, so that they do not change the served data. */
    const resume = () => {
      setFault('exits at startup');
      writeFileSync(inFolder('fault') + RESUME, '');
    };

    const outcome = (seen: number) =>
      Promise.race(
        ['snapshot live', 'snapshot refused'].map((msg) => replica.waitForLog({ msg, file: FILE }, seen)),
      );

    for (const [i, [what, change]] of Object.entries(CHANGES).entries()) {
      it(what, async () => {
        const before = live;
        const fault = WAITS[i % WAITS.length];
        const n = await beginLoad(fault);
        const other = next++;
        change(place(), readFileSync(snapshots.draft(other)));
        const seen = replica.log.length;
        resume();
        const line = await outcome(seen);
        const served = line['msg'] === 'snapshot refused' ? before : n;
        await expectServed(served, `${what}, ${fault}: ${JSON.stringify(line)}`);
      });
    }

    it('continuous writes of random blocks of either snapshot', async () => {
      const before = live;
      const n = await beginLoad('waits before it reads events');
      const other = next++;
      const contents = [readFileSync(place()), readFileSync(snapshots.draft(other))];
      const seen = replica.log.length;
      resume();
      let line: Record<string, unknown> | undefined;
      void outcome(seen).then((known) => (line = known));
      while (line === undefined) {
        const blocks = times(3, () => random.below(blocksOf(contents[0])));
        writeBlocks(place(), contents[random.below(2)], blocks);
        await delay(0);
      }
      await expectServed(line['msg'] === 'snapshot refused' ? before : n);

      // The last write completes the other snapshot, which goes live.
      setFault();
      writeBlocks(place(), contents[1], times(blocksOf(contents[1]), Number));
      await replica.waitForLog({ msg: 'snapshot live', snapshotId: snapshotIdOf(other) });
      await expectServed(other);
    });

    it('keeps serving while the snapshot folder is moved away and back', async () => {
      const seen = replica.log.length;
      renameSync(inFolder('snapshots'), inFolder('away'));
      await replica.waitForLog({ msg: 'the snapshot folder cannot be read; retrying' }, seen);
      await expectServed(live);
      renameSync(inFolder('away'), inFolder('snapshots'));
      await goLive();
      expect(replica.linesOf({ msg: 'snapshot live' }, seen)).to.have.length(1);
    });
  });
});

describe('A full disk', () => {
  const inFolder = folderForAll();

  it('fails a publication, which leaves no file, and the published one as it was', async () => {
    const snapshots = await MarkedSnapshots.build(inFolder);
    snapshots.place(1);
    const before = readFileSync(inFolder('snapshots/north.sqlite'));
    const environment = { SNAPSHOT_DIR: inFolder('snapshots'), NODE_DISABLE_COMPILE_CACHE: '1' };
    const words = ['publish', snapshots.draft(2), '--as', 'north'];
    // Room for half of the file.
    const fileBlocks = before.length >> 10;
    const { code, stderr } = await new Command('scripts/snapshot.ts', words, environment, { fileBlocks })
      .ended;
    expect(stderr).to.match(/EFBIG|file too large/i);
    expect(code).to.equal(1);
    expect(readdirSync(inFolder('snapshots'))).to.deep.equal(['north.sqlite']);
    expect(readFileSync(inFolder('snapshots/north.sqlite')).equals(before)).to.equal(true);
  });
});
