import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import Database from 'better-sqlite3';
import { BlockReader } from '../../src/snapshot/load/block-reader.ts';
import type { InFolder } from '../support/temporary-folder.ts';

/**
 * Makes the threads of loads fail when preloaded into a process. The file at FAULT_FILE holds the name of the fault when
 * a load begins. Without the file, the load has no fault.
 */
const FAULTS = {
  'throws at startup': () => {
    Object.defineProperty(Atomics, 'wait', {
      value: () => {
        throw new Error('a fault at startup');
      },
    });
  },
  'exits at startup': () => process.exit(3),
  'runs out of memory': () => {
    const hoard: object[] = [];
    for (;;) hoard.push({ some: `text ${hoard.length}` });
  },
  'exits after it has declared the snapshot': () => {
    const { wait } = Atomics;
    Object.defineProperty(Atomics, 'wait', {
      value: (...args: Parameters<typeof wait>) => {
        // The snapshot is admitted by now.
        wait(...args);
        process.exit(4);
      },
    });
  },
  'throws while it reads': before('orders', () => {
    throw new Error('a fault while reading');
  }),
  'throws a string while it reads': before('orders', () => {
    // eslint-disable-next-line @typescript-eslint/only-throw-error -- this is the fault
    throw 'a string';
  }),
  'exits while it reads': before('offers', () => process.exit(0)),
  'gets an I/O error while it reads': before('orders', () => {
    throw new Database.SqliteError('disk I/O error', 'SQLITE_IOERR_READ');
  }),
  // Unlike Atomics.wait(), this is not interrupted when the thread is terminated.
  'is blocked in the system before it reads orders': before('orders', () =>
    execFileSync('sleep', [BLOCKED_SECONDS]),
  ),
  'waits before it reads events': before('events', wait),
  'waits before it reads tickets': before('tickets', wait),
  'waits before it reads orders': before('orders', wait),
  'waits before it reads offers': before('offers', wait),
} as const;

/** Long enough for the next snapshot to go live in the meantime. */
const BLOCKED_SECONDS = '8';

export type Fault = keyof typeof FAULTS;

/** Suffixes of two files next to the fault file. The first reports that the loader waits, the second resumes it. */
const WAITING = '.waiting';
const RESUME = '.go';

/** The faults of the loads of a replica. */
export class LoaderFaults {
  readonly #inFolder: InFolder;

  constructor(inFolder: InFolder) {
    this.#inFolder = inFolder;
  }

  /** Variables of the replica. */
  get environment() {
    return { NODE_OPTIONS: `--import=${import.meta.url}`, FAULT_FILE: this.#inFolder('fault') };
  }

  /** Sets or removes the fault of the next loads. */
  set(fault?: Fault): void {
    rmSync(this.#inFolder('fault'), { force: true });
    if (fault === undefined) return;
    writeFileSync(this.#inFolder('draft-fault'), fault);
    renameSync(this.#inFolder('draft-fault'), this.#inFolder('fault'));
  }

  /** Fulfilled when a load waits. */
  async waiting(): Promise<void> {
    while (!existsSync(this.#inFolder('fault') + WAITING)) await delay(2);
  }

  resume(): void {
    writeFileSync(this.#inFolder('fault') + RESUME, '');
  }
}

/** Returns a fault: a call of `act` before the first block of a collection is read. */
function before(collection: string, act: () => unknown): () => void {
  return () => {
    const { prototype } = BlockReader;
    const read = Reflect.get(prototype, 'read');
    let isBegun = false;
    Object.defineProperty(prototype, 'read', {
      value: function (this: BlockReader, ...given: Parameters<BlockReader['read']>) {
        const [{ name }] = given;
        if (!isBegun && name === collection) {
          isBegun = true;
          act();
        }
        return read.apply(this, given);
      },
    });
  };
}

/** Reports that the loader waits, until it is resumed. */
function wait(): void {
  const file = faultFile();
  writeFileSync(file + WAITING, '');
  const never = new Int32Array(new SharedArrayBuffer(4));
  while (!existsSync(file + RESUME)) Atomics.wait(never, 0, 0, 2);
  rmSync(file + RESUME);
  rmSync(file + WAITING);
}

function faultFile(): string {
  return process.env['FAULT_FILE'] ?? '';
}

/** Applies the fault, if there is one. */
function begin(): void {
  if (!existsSync(faultFile())) return;
  const name = readFileSync(faultFile(), 'utf8');
  if (!(name in FAULTS)) throw new Error(`no such fault: ${name}`);
  FAULTS[name as Fault]();
}

const given: unknown = workerData;
if (typeof given === 'object' && given !== null) {
  // Only the data of a reader has a path, and only that of a loader an admission.
  if ('path' in given && 'queue' in given) begin();
  // Before the program of the thread receives the message that begins a load.
  if ('admission' in given) parentPort?.once('message', begin);
}
