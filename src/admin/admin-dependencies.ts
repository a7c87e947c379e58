import type { Logger } from 'pino';
import type { Tally } from '../http/tally.ts';
import type { KeyRing } from '../keys/key-ring.ts';
import type { LoadHistory } from '../snapshot/load-history.ts';
import type { StoreRegistry } from '../store/store-registry.ts';

/** The threads that answer requests. */
export interface AnsweringThreads {
  /** How many there are to be. */
  readonly count: number;
  /** How many answer at the moment. */
  readonly listening: number;
  /** Whether there was a time when all of them did. */
  readonly hasListened: boolean;
  /** How many took the place of one that had ended. */
  readonly replaced: number;
  /** One of each; what a thread counted stays when it ends. */
  readonly tallies: readonly Tally[];
}

/** What operators are told of. */
export interface AdminDependencies {
  readonly stores: StoreRegistry;
  readonly history: LoadHistory;
  readonly snapshotDir: string;
  /** What keeps the process from looking at the snapshot folder, when something does. */
  readonly snapshotsComplaint: () => string | undefined;
  /** Undefined until there is a keys file. */
  readonly keys: () => KeyRing | undefined;
  readonly keysFile: string;
  /** What is wrong with the keys file, when the keys are not those in it. */
  readonly keysComplaint: () => string | undefined;
  readonly threads: AnsweringThreads;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  readonly isStopping: () => boolean;
  /** Undefined for no limit. */
  readonly maxSnapshotAgeSeconds: number | undefined;
  readonly memoryLimitBytes: number;
  readonly retainSeconds: number;
  /** Lines that the log had no room for. */
  readonly droppedLogLines: () => number;
  readonly log: Logger;
}
