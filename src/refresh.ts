import type { Logger } from 'pino';
import type { Config } from './config.ts';
import { KeysWatcher } from './keys/keys-watcher.ts';
import { Admission } from './snapshot/admission/admit.ts';
import { memoryLimit } from './snapshot/admission/memory.ts';
import type { Manifest } from './snapshot/format/manifest.ts';
import { TRANSIENT_REASONS } from './snapshot/format/refused-snapshot.ts';
import { hasLoaderThreads, loadSnapshot, prepareLoad } from './snapshot/load/load-snapshot.ts';
import { FeedWatcher } from './snapshot/watch/feed-watcher.ts';
import { LoadHistory } from './snapshot/watch/load-history.ts';
import { SnapshotWatcher } from './snapshot/watch/snapshot-watcher.ts';
import { StoreRegistry } from './store/registry/store-registry.ts';
import type { Admitted } from './store/registry/store-view.ts';
import type { Supervisor } from './workers/supervisor.ts';

/** Interval at which retained sections are released. */
const EXPIRY_MS = 500;

/** Starts polling of snapshots and keys, and publishes both to the workers. */
export function startRefresh(
  config: Config,
  workers: Pick<Supervisor, 'publish' | 'replaceKeys' | 'servedDigests'>,
  log: Logger,
) {
  const stores = new StoreRegistry(workers.servedDigests);
  const history = new LoadHistory();
  const memory = memoryLimit(config.memoryLimitMb);
  const admission = new Admission(stores, memory, config.threads);
  const keys = new KeysWatcher(config.keysFile, log, (rows) => workers.replaceKeys(rows));
  const feeds = new FeedWatcher(config.snapshotDir, log);
  let isSwapping = false;
  const snapshots = new SnapshotWatcher({
    folder: config.snapshotDir,
    stores,
    history,
    load: (file, path, signal) => {
      const admit = async (manifest: Manifest, bytesToCopy?: number): Promise<Admitted> => {
        try {
          return admission.admit(file, manifest, !snapshots.hasTriedAll, bytesToCopy);
        } finally {
          // The admission may have released retained sections to make room. The load waits until no worker has them.
          await workers.publish(stores.view);
        }
      };
      // Once data is live, the workers need the other processors.
      const readsAhead = stores.live.size === 0;
      return loadSnapshot(path, { admit, timeoutSeconds: config.loadTimeoutSeconds, signal, readsAhead });
    },
    goLive: async (file, image) => {
      isSwapping = true;
      try {
        admission.noteSwap(image.snapshotId, stores.swap(file, image));
        // Until all workers show the new data, they may still send links to the replaced data.
        await workers.publish(stores.view);
        stores.releaseExpired(config);
      } finally {
        isSwapping = false;
      }
      await workers.publish(stores.view);
      prepareLoad();
    },
    hasUnendedLoads: hasLoaderThreads,
    log,
  });
  const release = () => {
    if (isSwapping) return;
    stores.releaseExpired(config);
    admission.makeRoom();
    void workers.publish(stores.view);
  };
  const poll = async () => {
    await Promise.all([keys.poll(), feeds.poll(), snapshots.poll()]);
  };
  void poll();
  const timers = [
    setInterval(release, EXPIRY_MS),
    setInterval(() => void poll(), config.snapshotPollSeconds * 1000),
  ];
  return {
    stores,
    history,
    keys,
    feeds,
    snapshots,
    admission,
    memory,
    /** Polls now, also for files that wait for their next try. Joins a poll in progress. */
    poll: () => {
      snapshots.retry(TRANSIENT_REASONS);
      return poll();
    },
    stop: () => {
      timers.forEach(clearInterval);
      snapshots.stop();
    },
  };
}
