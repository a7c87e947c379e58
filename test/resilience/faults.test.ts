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
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { Random } from '../../scripts/sample/random.ts';
import { build, writeImport } from '../support/import-folder.ts';
import { folderForAll } from '../support/temporary-folder.ts';
import { alteredCopy, asOrganization, asSnapshot, snapshotIdOf } from '../system/altered-snapshot.ts';
import { run } from '../support/command.ts';
import { type Fault, RESUME, WAITING } from './faulty-loader.ts';
import { markedAs, markedImport, marksIn } from '../system/marked-import.ts';
import { newCredential, ReplicaUnderTest } from '../support/replica-under-test.ts';

const PRELOADED = new URL('faulty-loader.ts', import.meta.url).href;
const HEAP_MB = 96;
const SEED = 20_261_121;
const BLOCK = 4096;
const PREVIEW = { 'Service-API-Version': 'preview' };

/** The faults of a load, and the reason and detail of the refusal. */
const FAILURES: readonly (readonly [Fault, reason: string, detail: RegExp])[] = [
  ['throws at startup', 'loader-failed', /^the loader failed: a fault at startup$/],
  ['exits at startup', 'loader-failed', /^the loader failed: it exited with code 3 before it was done$/],
  ['runs out of memory', 'loader-failed', /^the loader failed: .*memory/],
  [
    'exits after it has declared the snapshot',
    'loader-failed',
    /^the loader failed: it exited with code 4 before it was done$/,
  ],
  ['throws while it reads', 'loader-failed', /^the loader failed: a fault while reading$/],
  ['throws a string while it reads', 'loader-failed', /^the loader failed: a string$/],
  ['exits while it reads', 'loader-failed', /^the loader failed: it exited with code 0 before it was done$/],
  ['gets an I/O error while it reads', 'unreadable', /disk I\/O error \(SQLITE_IOERR_READ\)/],
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
  const inSnapshots = (name: string) => join(inFolder('snapshots'), name);
  const FILE = 'north.sqlite';
  let replica: ReplicaUnderTest;
  let credential: string;
  let next = 1;
  let live = 0;

  before(async () => {
    mkdirSync(inFolder('snapshots'));
    writeImport(inFolder('import'), markedImport(['north'], 1));
    await build(inFolder('import'), inFolder('built'));
    credential = newCredential(inFolder, 'north');
    replica = await ReplicaUnderTest.start(inFolder, {
      NODE_OPTIONS: `--import=${PRELOADED} --max-old-space-size=${HEAP_MB}`,
      FAULT_FILE: inFolder('fault'),
    });
    await goLive();
  });

  after(() => replica.end());

  /** Makes the `n`th snapshot, with `n` as the mark of every record. All have the same size. */
  const drafted = (n: number) =>
    alteredCopy(inFolder('built'), inFolder(`draft-${n}`), asSnapshot(n), markedAs(n));

  function publish(n: number): void {
    renameSync(drafted(n), inSnapshots(FILE));
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
    const n = next++;
    publish(n);
    await replica.waitForLog({ msg: 'snapshot live', snapshotId: snapshotIdOf(n) });
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
    afterEach(async () => {
      setFault();
      await goLive();
    });

    for (const [fault, reason, detail] of FAILURES) {
      it(fault, async () => {
        setFault(fault);
        const seen = replica.log.length;
        publish(next++);
        const line = await replica.waitForLog({ msg: 'snapshot refused', file: FILE }, seen);
        expect(line['detail']).to.match(detail);
        expect(line['reason']).to.equal(reason);
        expect(replica.isRunning).to.equal(true);
        await expectServed(live);
        const { text } = await replica.requestAdmin('/metrics');
        expect(text).to.match(
          new RegExp(`^foyer_snapshot_refusals_total\\{reason="${reason}"\\} [1-9]`, 'm'),
        );
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

    function writeBlocks(path: string, bytes: Buffer, blocks: Iterable<number>): void {
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
        writeBlocks(path, other, Array(blocksOf(other)).keys());
      },
      'the first half of another': (path, other) => {
        writeBlocks(path, other, Array(blocksOf(other) >> 1).keys());
      },
      'the second half of another': (path, other) => {
        const half = blocksOf(other) >> 1;
        writeBlocks(
          path,
          other,
          Array.from({ length: blocksOf(other) - half }, (_, i) => half + i),
        );
      },
      'random blocks of another': (path, other) => {
        writeBlocks(
          path,
          other,
          Array.from({ length: blocksOf(other) >> 1 }, () => random.below(blocksOf(other))),
        );
      },
      'blocks of zeros': (path, other) => {
        writeBlocks(
          path,
          Buffer.alloc(other.length),
          Array.from({ length: 9 }, () => random.below(blocksOf(other))),
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

    afterEach(async () => {
      setFault();
      await goLive();
    });

    /** Starts a load that pauses before it reads the content. Returns the number of its snapshot. */
    async function beginLoad(fault: Fault): Promise<number> {
      setFault(fault);
      const n = next++;
      publish(n);
      while (!existsSync(inFolder('fault') + WAITING)) await delay(2);
      setFault();
      return n;
    }

    /** Resumes the load. The retries of the changed file fail, so that they do not change the served data. */
    const resume = () => {
      setFault('exits at startup');
      writeFileSync(inFolder('fault') + RESUME, '');
    };

    async function outcome(seen: number) {
      const [live, refused] = ['snapshot live', 'snapshot refused'].map((msg) =>
        replica.waitForLog({ msg, file: FILE }, seen),
      );
      return Promise.race([live, refused]);
    }

    for (const [i, [what, change]] of Object.entries(CHANGES).entries()) {
      it(what, async () => {
        const before = live;
        const fault = WAITS[i % WAITS.length];
        const n = await beginLoad(fault);
        const other = next++;
        change(inSnapshots(FILE), readFileSync(drafted(other)));
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
      const contents = [readFileSync(inSnapshots(FILE)), readFileSync(drafted(other))];
      const seen = replica.log.length;
      resume();
      let line: Record<string, unknown> | undefined;
      void outcome(seen).then((known) => (line = known));
      while (line === undefined) {
        const blocks = blocksOf(contents[0]);
        writeBlocks(inSnapshots(FILE), contents[random.below(2)], [
          random.below(blocks),
          random.below(blocks),
          random.below(blocks),
        ]);
        await delay(0);
      }
      await expectServed(line['msg'] === 'snapshot refused' ? before : n);

      // The last write completes the other snapshot, which goes live.
      setFault();
      writeBlocks(inSnapshots(FILE), contents[1], Array(blocksOf(contents[1])).keys());
      await replica.waitForLog({ msg: 'snapshot live', snapshotId: snapshotIdOf(other) });
      await expectServed(other);
    });
  });

  it('keeps serving while the snapshot folder is moved away and back', async () => {
    const seen = replica.log.length;
    renameSync(inFolder('snapshots'), inFolder('away'));
    await replica.waitForLog({ msg: 'the snapshot folder cannot be read; retrying' }, seen);
    await expectServed(live);
    renameSync(inFolder('away'), inFolder('snapshots'));
    await goLive();
    expect(replica.log.slice(seen).filter(({ msg }) => msg === 'snapshot live')).to.have.length(1);
  });
});

describe('A full disk', () => {
  const inFolder = folderForAll();
  const inSnapshots = (name: string) => join(inFolder('snapshots'), name);

  it('leads to the refusal of a partial copy until it is complete; a failed publication leaves no file', async function () {
    mkdirSync(inFolder('snapshots'));
    writeImport(inFolder('import'), markedImport(['north'], 0));
    await build(inFolder('import'), inFolder('built'));
    const { size } = statSync(inFolder('built'));
    try {
      // Room for two and a half files.
      const options = `size=${Math.ceil(size * 2.5)}`;
      execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', inFolder('snapshots')], {
        stdio: 'pipe',
      });
    } catch {
      this.skip();
    }
    let replica: ReplicaUnderTest | undefined;
    try {
      copyFileSync(inFolder('built'), inSnapshots('north.sqlite'));
      writeFileSync(inSnapshots('ballast'), Buffer.alloc(size));
      const credentials = ['north', 'south'].map((id) => newCredential(inFolder, id));
      replica = await ReplicaUnderTest.start(inFolder);
      const { snapshotId } = await replica.waitForLog({ msg: 'snapshot live', file: 'north.sqlite' });
      const served = async (credential: string) =>
        (await replica?.request('/v1/tickets', credential))?.headers['service-snapshot-id'];

      const south = alteredCopy(inFolder('built'), inFolder('south'), asOrganization('south'), asSnapshot(2));
      expect(() => execFileSync('cp', [south, inSnapshots('south.sqlite')], { stdio: 'pipe' })).to.throw(
        /No space left/,
      );
      expect(await replica.waitForLog({ msg: 'snapshot refused', file: 'south.sqlite' })).to.include({
        reason: 'cut-short',
      });
      expect(await served(credentials[0])).to.equal(snapshotId);

      const later = alteredCopy(inFolder('built'), inFolder('later'), asSnapshot(3));
      const publish = () =>
        run('scripts/snapshot.ts', ['publish', later, '--as', 'north', '--rollback'], {
          SNAPSHOT_DIR: inFolder('snapshots'),
        });
      const failed = await publish();
      expect(failed.code, failed.stderr).to.equal(1);
      expect(failed.stderr).to.match(/no space left|full/i);
      expect(readdirSync(inFolder('snapshots')).sort()).to.deep.equal([
        'ballast',
        'north.sqlite',
        'south.sqlite',
      ]);
      expect(await served(credentials[0])).to.equal(snapshotId);

      rmSync(inSnapshots('ballast'));
      execFileSync('cp', [south, inSnapshots('south.sqlite')]);
      await replica.waitForLog({ msg: 'snapshot live', snapshotId: snapshotIdOf(2) });
      expect(await served(credentials[1])).to.equal(snapshotIdOf(2));
      rmSync(inSnapshots('south.sqlite'));
      expect((await publish()).code).to.equal(0);
      await replica.waitForLog({ msg: 'snapshot live', snapshotId: snapshotIdOf(3) });
      expect(await served(credentials[0])).to.equal(snapshotIdOf(3));
    } finally {
      await replica?.end();
      execFileSync('umount', [inFolder('snapshots')]);
    }
  });
});
