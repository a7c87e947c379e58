import { appendFileSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { Random } from '../../scripts/sample/random.ts';
import { markedReplicaForEach, numberOf } from '../support/marked-replica.ts';
import { type LogLine, ReplicaUnderTest } from '../support/replica-under-test.ts';
import { type Fault, LoaderFaults } from './faulty-loader.ts';

const HEAP_MB = 96;
const SEED = 20_261_121;
const BLOCK = 4096;

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
  // On a disk that does not respond, loads do not end. The second thread cannot be ended either.
  ['waits before it reads tickets', 'timeout', /^it was not loaded within 3 s$/],
  ['is blocked in the system before it reads orders', 'timeout', /^it was not loaded within 3 s$/],
];

const WAITS: readonly Fault[] = [
  'waits before it reads events',
  'waits before it reads tickets',
  'waits before it reads orders',
  'waits before it reads offers',
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

const random = new Random(SEED);

/** Returns the bytes of a file with random blocks of another. */
function blended(bytes: Buffer, others: Buffer, share: number): Buffer {
  const result = Buffer.from(bytes);
  for (let at = 0; at < bytes.length; at += BLOCK)
    if (random.chance(share)) others.copy(result, at, at, at + BLOCK);
  return result;
}

/** Overwrites a file in place. */
const overwrite = (path: string, bytes: Buffer) => {
  writeFileSync(path, bytes, { flag: 'r+' });
};

/** Changes to a file; `other` has the bytes of another valid snapshot of the same size. */
const CHANGES: Readonly<Record<string, (path: string, other: Buffer) => void>> = {
  'all of another snapshot': overwrite,
  'the first half of another': (path, other) => {
    overwrite(path, other.subarray(0, other.length >> 1));
  },
  'random blocks of another': (path, other) => {
    overwrite(path, blended(readFileSync(path), other, 0.5));
  },
  'blocks of zeros': (path, { length }) => {
    overwrite(path, blended(readFileSync(path), Buffer.alloc(length), 0.1));
  },
  'a truncation to one half': (path, { length }) => {
    truncateSync(path, length >> 1);
  },
  'another snapshot, renamed over it': (path, other) => {
    writeFileSync(`${path}-renamed`, other);
    renameSync(`${path}-renamed`, path);
  },
  'another snapshot, appended to it': appendFileSync,
  'its removal': (path) => {
    rmSync(path);
  },
};

describe('A replica with faults', () => {
  const replica = markedReplicaForEach();
  const { inFolder } = replica;
  const faults = new LoaderFaults(inFolder);
  const file = () => inFolder('snapshots/north.sqlite');

  const environment = () => {
    const options = `${faults.environment.NODE_OPTIONS} --max-old-space-size=${HEAP_MB}`;
    return { ...faults.environment, NODE_OPTIONS: options };
  };

  async function start(further = {}): Promise<void> {
    await replica.start({ ...environment(), ...further });
  }

  /** Waits for the outcome of the running load. */
  function outcome(): Promise<LogLine> {
    const { process } = replica;
    const seen = process.log.length;
    return Promise.race(
      ['live', 'refused'].map((end) => process.waitForLog({ msg: `snapshot ${end}` }, seen)),
    );
  }

  /** Expects every response to come from one snapshot. */
  async function expectServed(n: number, what = ''): Promise<void> {
    for (const path of PATHS) expect(numberOf(await replica.ask(path), path), `${path}: ${what}`).to.equal(n);
  }

  /** Publishes a valid snapshot, and expects it to go live: the process has recovered from the fault. */
  async function goLive(): Promise<void> {
    faults.set();
    await expectServed(await replica.publish());
  }

  describe('refuses the snapshot, serves as before, and then loads the next one, when the loader', () => {
    for (const [fault, reason, detail] of FAILURES) {
      it(fault, async () => {
        await start(reason === 'timeout' ? { LOAD_TIMEOUT_SECONDS: '3' } : {});
        faults.set(fault);
        replica.place();
        const line = await outcome();
        expect(line).to.include({ msg: 'snapshot refused', reason });
        expect(line['detail']).to.match(detail);
        await expectServed(1);
        const refusals = await replica.process.metric(`foyer_snapshot_refusals_total{reason="${reason}"}`);
        expect(refusals).to.be.above(0);
        await goLive();
      });
    }
  });

  describe('refuses its first snapshot, and loads the next one, when the thread that reads ahead', () => {
    for (const [fault, reason, detail] of FAILURES.filter(([, one]) => one !== 'timeout')) {
      it(fault, async () => {
        faults.set(fault);
        const process = await ReplicaUnderTest.start(inFolder, environment());
        const line = await process.waitForLog({ msg: 'snapshot refused' });
        expect(line).to.include({ reason });
        expect(line['detail']).to.match(detail);
        faults.set();
        replica.place();
        await process.waitForLog({ msg: 'snapshot live' });
        process.signal('SIGKILL');
        await process.ended;
      });
    }
  });

  describe(`serves only complete snapshots when the file changes during a load (seed ${SEED}):`, () => {
    /** Starts a replica, and a load that waits before it reads the content. Returns the bytes of another snapshot. */
    async function beginLoad(fault: Fault): Promise<Buffer> {
      await start();
      faults.set(fault);
      replica.place();
      await faults.waiting();
      // The retries of the changed file fail, so that they do not change the served data.
      faults.set('exits at startup');
      return readFileSync(replica.draft());
    }

    for (const [i, [what, change]] of Object.entries(CHANGES).entries()) {
      it(what, async () => {
        const fault = WAITS[i % WAITS.length];
        const other = await beginLoad(fault);
        change(file(), other);
        faults.resume();
        const line = await outcome();
        await expectServed(line['msg'] === 'snapshot refused' ? 1 : 2, `${fault}: ${JSON.stringify(line)}`);
        await goLive();
      });
    }

    it('continuous writes of random blocks of either snapshot', async () => {
      const other = await beginLoad('waits before it reads events');
      const own = readFileSync(file());
      faults.resume();
      let line: LogLine | undefined;
      void outcome().then((known) => (line = known));
      while (line === undefined) {
        overwrite(file(), blended(own, other, 0.5));
        await delay(0);
      }
      await expectServed(line['msg'] === 'snapshot refused' ? 1 : 2);
      // The last write completes the other snapshot, which goes live.
      faults.set();
      overwrite(file(), other);
      expect(await outcome()).to.include({ msg: 'snapshot live' });
      await expectServed(3);
    });
  });
});
