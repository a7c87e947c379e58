import { createServer as createHttpServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Worker } from 'node:worker_threads';
import type { Config } from './config.ts';
import type { ProcessLog } from './log/process-log.ts';
import { startRefresh } from './refresh.ts';
import { Supervisor } from './workers/supervisor.ts';
import type { WorkerInput } from './workers/worker.ts';

/** A replica that runs. */
export interface Replica {
  /** Port that the API is on. */
  readonly port: number;
  /** Port for operators. */
  readonly adminPort: number;
  /** Fulfilled when the snapshot folder and the keys file were looked at for the first time. */
  readonly firstPoll: Promise<void>;
  /** Looks for new snapshots and changed keys at once. */
  poll(): Promise<void>;
  /**
   * Says that it is not ready, lets requests under way end within the grace given, then closes what is left.
   * @param hurry not to wait for who may still come, nor for connections that are idle
   */
  stop(graceSeconds: number, hurry: boolean): Promise<void>;
}

/**
 * Starts to serve, at once: until the data and the keys are there, requests are answered with 429. They are answered
 * by threads of their own; this one supervises them, and has the data, the keys and the port for operators.
 * @throws the system's error when a port cannot be had
 */
export async function startReplica(config: Config, processLog: ProcessLog): Promise<Replica> {
  const log = processLog.logger;
  const workers = new Supervisor({
    count: config.threads,
    port: config.port,
    host: config.host,
    start: (memory) => {
      const workerData: WorkerInput = { config, memory };
      return new Worker(new URL('./workers/worker.ts', import.meta.url), { workerData });
    },
    log,
  });
  processLog.follow(workers.logRings);
  const refresh = startRefresh(config, workers, log);
  const { stores, history, keys, snapshots } = refresh;
  let isStopping = false;

  // To load what operators ask takes a while, in which this thread does nothing else: first the others get to work.
  await Promise.race([refresh.begun, workers.started]);
  const { createAdminApp } = await import('./admin/admin-app.ts');
  const admin = createHttpServer(
    createAdminApp({
      stores,
      history,
      snapshotDir: config.snapshotDir,
      snapshotsComplaint: () => snapshots.complaint,
      keys: () => keys.current,
      keysFile: config.keysFile,
      keysComplaint: () => keys.complaint,
      workers,
      clock: Date.now,
      isStopping: () => isStopping,
      maxSnapshotAgeSeconds: config.maxSnapshotAgeSeconds,
      memoryLimitBytes: refresh.memory.bytes,
      retainSeconds: config.snapshotRetainSeconds,
      droppedLogLines: () => processLog.droppedLines,
      log,
    }),
  );
  try {
    const adminPort = await listen(admin, config.adminPort, config.adminHost);
    log.info({ host: config.adminHost, port: adminPort }, 'listening for operators');
    const port = await workers.listen();
    log.info({ host: config.host, threads: workers.count, port }, 'listening');
    return {
      port,
      adminPort,
      firstPoll: refresh.firstPoll,
      poll: refresh.poll,
      stop: async (graceSeconds, hurry) => {
        isStopping = true;
        await workers.stop(graceSeconds, hurry);
        // Not before: a key that is revoked now opens nothing, either.
        refresh.stop();
        admin.closeAllConnections();
        admin.close();
      },
    };
  } catch (error) {
    refresh.stop();
    await workers.terminate();
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
