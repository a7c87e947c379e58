import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { Random } from '../../scripts/sample/random.ts';
import { alteredCopy, asOrganization, asSnapshot, snapshotIdOf } from '../support/altered-snapshot.ts';
import { run } from '../support/command.ts';
import { markedImport, MarkedSnapshots, marksIn } from '../support/marked-snapshots.ts';
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
  // Loads that do not end, as on a disk that does not respond. The second thread cannot be ended either.
  ['waits before it reads tickets', 'timeout', /^it was not loaded within 3 s$/],
  ['is blocked in the system before it reads orders', 'timeout', /^it was not loaded within 3 s$/],
];

/** Together, these cover every record of an organization. */
const PATHS = [
  '/v1/tickets?perPage=100',
  '/v1/tickets?perPage=100&page=2',
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
    snapshots = await MarkedSnapshots.build(inFolder, [markedImport(['north'], 1)]);
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

  describe('refuses the snapshot, and then loads the next one, when the loader', () => {
    before(() => start({ LOAD_TIMEOUT_SECONDS: '3' }));
    afterEach(goLive);
    after(() => replica.end());

    for (const [fault, reason, detail] of FAILURES) {
      it(fault, async () => {
        setFault(fault);
        const seen = replica.log.length;
        snapshots.place(next++);
        const line = await replica.waitForLog({ msg: 'snapshot refused', file: FILE }, seen);
        expect(line['detail']).to.match(detail);
        expect(line['reason']).to.equal(reason);
        expect(replica.isRunning).to.equal(true);
        await expectServed(live);
        expect(await replica.metric(`foyer_snapshot_refusals_total{reason="${reason}"}`)).to.be.above(0);
      });
    }
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
      'the second half of another': (path, other) => {
        writeBlocks(path, other, times(blocksOf(other), Number).slice(halfOf(other)));
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
      'a truncation to no bytes': (path) => {
        truncateSync(path, 0);
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

  it('leads to the refusal of a partial copy until it is complete; a failed publication leaves no file', async function () {
    const snapshots = await MarkedSnapshots.build(inFolder);
    mkdirSync(inFolder('snapshots'));
    const first = snapshots.draft(1);
    const south = alteredCopy(first, inFolder('south'), asOrganization('south'), asSnapshot(2));
    const { size } = statSync(first);
    try {
      // Room for two and a half files.
      const options = ['-t', 'tmpfs', '-o', `size=${Math.ceil(size * 2.5)}`];
      execFileSync('mount', [...options, 'tmpfs', inFolder('snapshots')], { stdio: 'pipe' });
    } catch {
      this.skip();
    }
    let replica: ReplicaUnderTest | undefined;
    try {
      copyFileSync(first, inFolder('snapshots/north.sqlite'));
      writeFileSync(inFolder('snapshots/ballast'), Buffer.alloc(size));
      const credentials = {
        north: newCredential(inFolder, 'north'),
        south: newCredential(inFolder, 'south'),
      };
      const started = (replica = await ReplicaUnderTest.startReady(inFolder));
      const expectServed = async (organizationId: keyof typeof credentials, n: number) => {
        const { headers } = await started.request('/v1/tickets', credentials[organizationId]);
        expect(headers['service-snapshot-id']).to.equal(snapshotIdOf(n));
      };

      const copy = () => execFileSync('cp', [south, inFolder('snapshots/south.sqlite')], { stdio: 'pipe' });
      expect(copy).to.throw(/No space left/);
      const refused = await replica.waitForLog({ msg: 'snapshot refused', file: 'south.sqlite' });
      expect(refused).to.include({ reason: 'cut-short' });
      await expectServed('north', 1);

      const command = ['publish', snapshots.draft(3), '--as', 'north', '--rollback'];
      const publish = () => run('scripts/snapshot.ts', command, { SNAPSHOT_DIR: inFolder('snapshots') });
      const failed = await publish();
      expect(failed.code, failed.stderr).to.equal(1);
      expect(failed.stderr).to.match(/no space left|full/i);
      const names = readdirSync(inFolder('snapshots')).sort();
      expect(names).to.deep.equal(['ballast', 'north.sqlite', 'south.sqlite']);
      await expectServed('north', 1);

      rmSync(inFolder('snapshots/ballast'));
      copy();
      await replica.waitForLog({ msg: 'snapshot live', snapshotId: snapshotIdOf(2) });
      await expectServed('south', 2);
      rmSync(inFolder('snapshots/south.sqlite'));
      expect((await publish()).code).to.equal(0);
      await replica.waitForLog({ msg: 'snapshot live', snapshotId: snapshotIdOf(3) });
      await expectServed('north', 3);
    } finally {
      await replica?.end();
      execFileSync('umount', [inFolder('snapshots')]);
    }
  });
});
