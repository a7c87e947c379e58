import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import { createApp } from './app.ts';
import type { Config } from './config.ts';
import { RELEASES } from './contract/releases.ts';
import { watchOverload } from './http/overload.ts';
import { createServer } from './http/server.ts';
import { KeysWatcher } from './keys/keys-watcher.ts';
import { admit } from './snapshot/admission.ts';
import { LoadHistory } from './snapshot/load-history.ts';
import { loadSnapshot } from './snapshot/load-snapshot.ts';
import { SnapshotWatcher } from './snapshot/snapshot-watcher.ts';
import { worthKeeping } from './store/retention.ts';
import { StoreRegistry } from './store/store-registry.ts';

/** A replica that runs. */
export interface Replica {
  /** Port that it listens on. */
  readonly port: number;
  /** Fulfilled when the snapshot folder and the keys file were looked at for the first time. */
  readonly firstLook: Promise<void>;
  /** Looks for new snapshots and changed keys at once. */
  look(): Promise<void>;
  /** Takes no new connection, lets requests under way end within the grace given, then closes what is left. */
  stop(graceSeconds: number): Promise<void>;
}

/**
 * Starts to serve, at once: until the data and the keys are there, requests are answered with 429.
 * @throws the system's error when the port cannot be had
 */
export async function startReplica(config: Config, log: Logger): Promise<Replica> {
  const stores = new StoreRegistry();
  const history = new LoadHistory();
  const snapshots = new SnapshotWatcher({
    folder: config.snapshotDir,
    stores,
    history,
    load: loadSnapshot,
    admit: (file, manifest) => {
      admit(stores, file, manifest);
    },
    log,
  });
  const keys = new KeysWatcher(config.keysFile, log);
  const overload = watchOverload(config.overloadDelayMs);
  const dependencies = {
    config,
    stores,
    keys: () => keys.current,
    overload: overload.isOverloaded,
    clock: Date.now,
    releases: RELEASES,
    log,
  };
  const server = createServer(createApp(dependencies), dependencies);
  const port = await listen(server, config.port, config.host);
  log.info({ host: config.host, port }, 'listening');

  const look = () => {
    keys.poll();
    const retainMs = config.snapshotRetainSeconds * 1000;
    stores.keepRetained(
      worthKeeping(stores.retained, { now: performance.now(), retainMs, liveBytes: stores.liveBytes }),
    );
    return snapshots.poll();
  };
  const firstLook = look();
  const timer = setInterval(() => void look(), config.snapshotPollSeconds * 1000);
  return {
    port,
    firstLook,
    look,
    stop: async (graceSeconds) => {
      clearInterval(timer);
      snapshots.stop();
      overload.stop();
      await close(server, graceSeconds);
    },
  };
}

function listen(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

/** How long a connection that is kept alive may be silent once the server stops: its next request is still answered. */
const IDLE_MS = 250;

/** `server.close` alone waits for connections that are kept alive, or that never sent a request. */
async function close(server: Server, graceSeconds: number): Promise<void> {
  server.prependListener('request', (_request, response) => {
    // Sent as `Connection: close`.
    response.shouldKeepAlive = false;
  });
  const closed = new Promise<void>((resolve) =>
    server.close(() => {
      resolve();
    }),
  );
  const idle = setInterval(() => {
    server.closeIdleConnections();
  }, IDLE_MS);
  const late = setTimeout(() => {
    server.closeAllConnections();
  }, graceSeconds * 1000);
  await closed;
  clearInterval(idle);
  clearTimeout(late);
}
