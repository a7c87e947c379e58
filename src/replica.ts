import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Config } from './config.ts';
import type { ProcessLog } from './log/process-log.ts';
import { MAX_ADMIN_CONNECTIONS, openFilesForConnections } from './open-files.ts';
import { startRequestHistory } from './admin/request-history.ts';
import { startRefresh } from './refresh.ts';
import { Supervisor } from './workers/supervisor.ts';

/** Time for a request to the admin port to arrive, and for progress of its response. */
const ADMIN_TIMEOUT_MS = 5000;

export type Replica = Awaited<ReturnType<typeof startReplica>>;

/**
 * Starts a replica: the workers, and in this thread everything else.
 * The workers listen before a snapshot is loaded, and answer requests with 429 until then.
 * @throws the system's error when a port is not available, with a hint when it is in use
 */
export async function startReplica(config: Config, processLog: ProcessLog) {
  const log = processLog.logger;
  const workers = new Supervisor(config, log);
  processLog.attach(workers.logRings);
  const refresh = startRefresh(config, workers, log);
  const requestHistory = startRequestHistory(workers);

  // The import occupies this thread, so the loader and the workers start before it.
  await workers.allStarted;
  const { createAdminApp } = await import('./admin/admin-app.ts');
  // Silent connections must not occupy the few that the admin port accepts.
  const admin = createHttpServer(
    { headersTimeout: ADMIN_TIMEOUT_MS, requestTimeout: ADMIN_TIMEOUT_MS, connectionsCheckingInterval: 1000 },
    createAdminApp({ ...refresh, config, workers, requestHistory, log: processLog, clock: Date.now }),
  );
  admin.maxConnections = MAX_ADMIN_CONNECTIONS;
  admin.setTimeout(ADMIN_TIMEOUT_MS);
  try {
    await once(admin.listen(config.adminPort, config.adminHost), 'listening');
    const { port: adminPort } = admin.address() as AddressInfo;
    log.info({ host: config.adminHost, port: adminPort }, 'listening for operators');
    const maxConnections = Math.min(config.maxConnections, openFilesForConnections());
    const port = await workers.listen(maxConnections);
    log.info({ host: config.host, threads: config.threads, port, maxConnections }, 'listening');
    return {
      port,
      adminPort,
      /** Polls the snapshot folder and the keys file now. Joins a poll in progress, such as the first one. */
      poll: refresh.poll,
      /**
       * Stops being ready, accepts connections during the delay, lets requests end within the grace, then closes all
       * connections.
       */
      stop: async (delaySeconds: number, graceSeconds: number): Promise<void> => {
        await workers.stop(delaySeconds, graceSeconds);
        // The polls continue during the drain, so that a key revoked in that time is refused.
        refresh.stop();
        admin.closeAllConnections();
        admin.close();
      },
    };
  } catch (error) {
    refresh.stop();
    await workers.terminate();
    admin.close();
    if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')
      error.message += '; set PORT and ADMIN_PORT to free ports, such as PORT=3010 ADMIN_PORT=3011';
    throw error;
  }
}
