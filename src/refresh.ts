import type { Logger } from 'pino';
import type { Config } from './config.ts';
import { KeysWatcher } from './keys/keys-watcher.ts';
import { admit } from './snapshot/admission/admit.ts';
import { memoryLimit, type MemoryLimit } from './snapshot/admission/memory.ts';
import { loadSnapshot } from './snapshot/load/load-snapshot.ts';
import { LoadHistory } from './snapshot/watch/load-history.ts';
import { SnapshotWatcher } from './snapshot/watch/snapshot-watcher.ts';
import { StoreRegistry, storesToRetain } from './store/registry/store-registry.ts';
import type { Supervisor } from './workers/supervisor.ts';

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
  readonly firstPoll: Promise<void>;
  /** Looks at once. */
  readonly poll: () => Promise<void>;
  /** Looks no more. */
  readonly stop: () => void;
}

/** Looks for snapshots and keys from now on, and has all threads that answer requests go by what there is. */
export function startRefresh(
  config: Config,
  workers: Pick<Supervisor, 'show' | 'replaceKeys'>,
  log: Logger,
): Refresh {
  const stores = new StoreRegistry();
  const history = new LoadHistory();
  const keys = new KeysWatcher(config.keysFile, log, { takeEffect: (ring) => workers.replaceKeys(ring) });
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
        void workers.show(stores.view);
      }
    },
    goLive: async (file, image) => {
      stores.swap(file, image);
      await workers.show(stores.view);
      stores.releaseUnwalked();
      await workers.show(stores.view);
    },
    log,
  });
  const retainMs = config.snapshotRetainSeconds * 1000;
  const letGo = () => {
    const { retained, liveBytes } = stores;
    stores.retainOnly(storesToRetain(retained, { now: performance.now(), retainMs, liveBytes }));
    void workers.show(stores.view);
  };
  const poll = async () => {
    await Promise.all([keys.poll(), snapshots.poll()]);
  };
  const firstPoll = poll();
  void firstPoll.then(() => {
    begun.resolve(undefined);
  });
  const timers = [
    setInterval(letGo, LET_GO_MS),
    setInterval(() => void poll(), config.snapshotPollSeconds * 1000),
  ];
  return {
    stores,
    history,
    keys,
    snapshots,
    memory,
    begun: begun.promise,
    firstPoll,
    poll,
    stop: () => {
      timers.forEach(clearInterval);
      snapshots.stop();
    },
  };
}
