import type { Logger } from 'pino';
import type { Tally } from '../http/tally.ts';
import type { KeyRing } from '../keys/key-ring.ts';
import type { LoadHistory } from '../snapshot/load-history.ts';
import type { StoreRegistry } from '../store/store-registry.ts';

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
  /** One of each thread that answers requests, or answered some: its counts stay when it ends. */
  readonly tallies: readonly Tally[];
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  readonly isStopping: () => boolean;
  /** Undefined for no limit. */
  readonly maxSnapshotAgeSeconds: number | undefined;
  readonly memoryLimitBytes: number;
  readonly retainSeconds: number;
  readonly log: Logger;
}
