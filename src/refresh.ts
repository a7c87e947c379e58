import type { Logger } from 'pino';
import type { Config } from './config.ts';
import { KeysWatcher } from './keys/keys-watcher.ts';
import { admit } from './snapshot/admission.ts';
import { LoadHistory } from './snapshot/load-history.ts';
import { loadSnapshot } from './snapshot/load/load-snapshot.ts';
import { memoryLimit } from './snapshot/memory-limit.ts';
import type { MemoryLimit } from './snapshot/memory-limit.ts';
import { SnapshotWatcher } from './snapshot/snapshot-watcher.ts';
import { worthKeeping } from './store/retention.ts';
import { StoreRegistry } from './store/store-registry.ts';
import type { ThreadGroup } from './threads/thread-group.ts';

/** How often it is looked whether something that is kept for walks may go. */
const LET_GO_MS = 500;

/** What is served, kept up with the snapshot folder and the keys file. */
export interface Refresh {
  readonly stores: StoreRegistry;
  readonly history: LoadHistory;
  readonly keys: KeysWatcher;
  readonly snapshots: SnapshotWatcher;
  readonly memory: MemoryLimit;
  /** Fulfilled when the first load has begun, or there is nothing to load. */
  readonly begun: Promise<unknown>;
  /** Fulfilled when the snapshot folder and the keys file were looked at for the first time. */
  readonly firstLook: Promise<void>;
  /** Looks at once. */
  readonly look: () => Promise<void>;
  /** Looks no more. */
  readonly stop: () => void;
}

/** Looks for snapshots and keys from now on, and has all threads that answer requests go by what there is. */
export function startRefresh(
  config: Config,
  threads: Pick<ThreadGroup, 'show' | 'take'>,
  log: Logger,
): Refresh {
  const stores = new StoreRegistry();
  const history = new LoadHistory();
  const keys = new KeysWatcher(config.keysFile, log, { takeEffect: (ring) => threads.take(ring) });
  const begun = Promise.withResolvers<undefined>();
  const memory = memoryLimit(config.memoryLimitMb);
  const snapshots = new SnapshotWatcher({
    folder: config.snapshotDir,
    stores,
    history,
    load: (path, options) => {
      const image = loadSnapshot(path, options);
      begun.resolve(undefined);
      return image;
    },
    admit: (file, manifest) => {
      try {
        admit(stores, file, manifest, memory, config.threads);
      } finally {
        // To make room, something may have been let go of.
        void threads.show(stores.view);
      }
    },
    goLive: async (file, image) => {
      stores.swap(file, image);
      await threads.show(stores.view);
      stores.letGoOfUnwalked();
      await threads.show(stores.view);
    },
    log,
  });
  const retainMs = config.snapshotRetainSeconds * 1000;
  const letGo = () => {
    const { retained, liveBytes } = stores;
    stores.keepRetained(worthKeeping(retained, { now: performance.now(), retainMs, liveBytes }));
    void threads.show(stores.view);
  };
  const look = async () => {
    await Promise.all([keys.poll(), snapshots.poll()]);
  };
  const firstLook = look();
  void firstLook.then(() => {
    begun.resolve(undefined);
  });
  const timers = [
    setInterval(letGo, LET_GO_MS),
    setInterval(() => void look(), config.snapshotPollSeconds * 1000),
  ];
  return {
    stores,
    history,
    keys,
    snapshots,
    memory,
    begun: begun.promise,
    firstLook,
    look,
    stop: () => {
      timers.forEach(clearInterval);
      snapshots.stop();
    },
  };
}
