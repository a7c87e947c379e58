import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isMainThread, workerData } from 'node:worker_threads';
import Database from 'better-sqlite3';
import { RunReader } from '../../src/snapshot/load/run-reader.ts';

/**
 * Preloaded into a process, makes the threads that load snapshots fail. A file, named by FAULT_FILE, holds the name of
 * the fault when such a thread starts; without it there is none.
 */
const FAULTS = {
  'throws at its start': () => {
    throw new Error('a fault at the start');
  },
  'exits at its start': () => process.exit(3),
  'runs out of memory': () => {
    const hoard: object[] = [];
    for (;;) hoard.push({ some: `text ${hoard.length}` });
  },
  'ends when it has declared': () => {
    const { wait } = Atomics;
    Object.defineProperty(Atomics, 'wait', {
      value: (...args: Parameters<typeof wait>) => {
        // The snapshot is admitted, but the loader is gone.
        wait(...args);
        process.exit(4);
      },
    });
  },
  'throws while it reads': () => {
    beforeReading((collection) => {
      if (collection === 'orders') throw new Error('a fault while reading');
    });
  },
  'throws no error while it reads': () => {
    beforeReading((table) => {
      // eslint-disable-next-line @typescript-eslint/only-throw-error -- which is the fault
      if (table === 'orders') throw 'a word';
    });
  },
  'exits while it reads': () => {
    beforeReading((collection) => {
      if (collection === 'offers') process.exit(0);
    });
  },
  'cannot read on': () => {
    beforeReading((collection) => {
      if (collection === 'orders') throw new Database.SqliteError('disk I/O error', 'SQLITE_IOERR_READ');
    });
  },
  'waits before it reads events': () => {
    waitBefore('events');
  },
  'waits before it reads tickets': () => {
    waitBefore('tickets');
  },
  'waits before it reads orders': () => {
    waitBefore('orders');
  },
  'waits before it reads offers': () => {
    waitBefore('offers');
  },
} as const;

export type Fault = keyof typeof FAULTS;

/** What is put behind the name of the file of the fault: that the thread waits, and that it is to go on. */
export const WAITING = '.waiting';
export const GO_ON = '.go';

/** Calls `act` before the first run of a collection is read. */
function beforeReading(act: (collection: string) => void): void {
  const { prototype } = RunReader;
  const read = Reflect.get(prototype, 'read');
  const told = new Set<string>();
  Object.defineProperty(prototype, 'read', {
    value: function (this: RunReader, ...given: Parameters<RunReader['read']>) {
      const [{ name }] = given;
      if (!told.has(name)) {
        told.add(name);
        act(name);
      }
      return read.apply(this, given);
    },
  });
}

function waitBefore(where: string): void {
  beforeReading((collection) => {
    if (collection !== where) return;
    const file = faultFile();
    writeFileSync(file + WAITING, '');
    const never = new Int32Array(new SharedArrayBuffer(4));
    while (!existsSync(file + GO_ON)) Atomics.wait(never, 0, 0, 2);
    rmSync(file + GO_ON);
    rmSync(file + WAITING);
  });
}

function faultFile(): string {
  return process.env['FAULT_FILE'] ?? '';
}

/** The loader alone waits for an admission. */
function isLoader(): boolean {
  const given: unknown = workerData;
  return !isMainThread && typeof given === 'object' && given !== null && 'admission' in given;
}

if (isLoader() && existsSync(faultFile())) {
  const name = readFileSync(faultFile(), 'utf8');
  if (!(name in FAULTS)) throw new Error(`no such fault: ${name}`);
  FAULTS[name as Fault]();
}
