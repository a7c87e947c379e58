import { createServer as createHttpServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import { createAdminApp } from './admin/admin-app.ts';
import { createApp } from './app.ts';
import type { Config } from './config.ts';
import { RELEASES } from './contract/releases.ts';
import { Drain } from './http/drain.ts';
import { watchOverload } from './http/overload.ts';
import { createServer } from './http/server.ts';
import { Tally } from './http/tally.ts';
import { startRefresh } from './refresh.ts';

/** A replica that runs. */
export interface Replica {
  /** Port that the API is on. */
  readonly port: number;
  /** Port for operators. */
  readonly adminPort: number;
  /** Fulfilled when the snapshot folder and the keys file were looked at for the first time. */
  readonly firstLook: Promise<void>;
  /** Looks for new snapshots and changed keys at once. */
  look(): Promise<void>;
  /**
   * Says that it is not ready, lets requests under way end within the grace given, then closes what is left.
   * @param hurry not to wait for who may still come, nor for connections that are idle
   */
  stop(graceSeconds: number, hurry: boolean): Promise<void>;
}

/**
 * Starts to serve, at once: until the data and the keys are there, requests are answered with 429.
 * @throws the system's error when a port cannot be had
 */
export async function startReplica(config: Config, log: Logger): Promise<Replica> {
  const tally = new Tally();
  const overload = watchOverload(config.overloadDelayMs, tally);
  const refresh = startRefresh(config, log);
  const { stores, history, keys, snapshots } = refresh;
  let isStopping = false;

  const dependencies = {
    config,
    stores,
    keys: () => keys.current,
    overload: overload.isOverloaded,
    clock: Date.now,
    releases: RELEASES,
    tally,
    log,
  };
  const server = createServer(createApp(dependencies), dependencies);
  const drain = new Drain(server);
  const admin = createHttpServer(
    createAdminApp({
      ...dependencies,
      history,
      snapshotDir: config.snapshotDir,
      snapshotsComplaint: () => snapshots.complaint,
      keysFile: config.keysFile,
      keysComplaint: () => keys.complaint,
      tallies: [tally],
      isStopping: () => isStopping,
      maxSnapshotAgeSeconds: config.maxSnapshotAgeSeconds,
      memoryLimitBytes: refresh.memory.bytes,
      retainSeconds: config.snapshotRetainSeconds,
    }),
  );
  try {
    const adminPort = await listen(admin, config.adminPort, config.adminHost);
    log.info({ host: config.adminHost, port: adminPort }, 'listening for operators');
    const port = await listen(server, config.port, config.host);
    log.info({ host: config.host, port }, 'listening');
    return {
      port,
      adminPort,
      firstLook: refresh.firstLook,
      look: refresh.look,
      stop: async (graceSeconds, hurry) => {
        isStopping = true;
        await drain.run(graceSeconds, hurry);
        // Not before: a key that is revoked now opens nothing, either.
        refresh.stop();
        overload.stop();
        admin.closeAllConnections();
        admin.close();
      },
    };
  } catch (error) {
    refresh.stop();
    overload.stop();
    admin.close();
    throw error;
  }
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
