import type { Logger } from 'pino';

const STOP_SIGNALS = ['SIGTERM', 'SIGINT'] as const;
const FAILED = 1;

/** The log of the process; `end` writes what is left of it. */
interface EndableLog {
  readonly logger: Logger;
  end(): Promise<void>;
}

interface Stoppable {
  /** @param hurry whether to wait for requests under way only */
  stop(graceSeconds: number, hurry: boolean): Promise<void>;
}

interface Pollable {
  poll(): Promise<void>;
}

/**
 * Stops the replica on SIGTERM or SIGINT, then exits with 0. A second signal ends the process at once.
 * The function is called before the replica has started, so that an early signal is handled too.
 *
 * @param starting the caller handles its rejection
 */
export function stopOnSignal(starting: Promise<Stoppable>, graceSeconds: number, log: EndableLog): void {
  const { logger } = log;
  const stop = async (signal: NodeJS.Signals): Promise<void> => {
    // The next signal has its default action: it ends the process.
    for (const name of STOP_SIGNALS) process.off(name, listener);
    const replica = await starting.catch(() => undefined);
    if (replica === undefined) return;
    try {
      // SIGINT is Ctrl-C: a terminal waits for its prompt.
      const stopped = replica.stop(graceSeconds, signal === 'SIGINT');
      logger.info({ signal }, 'stopping');
      await stopped;
      logger.info('stopped');
      await log.end();
      process.exit(0);
    } catch (error) {
      logger.error(error, 'stopping failed');
      await log.end();
      process.exit(FAILED);
    }
  };
  const listener = (signal: NodeJS.Signals) => void stop(signal);
  for (const name of STOP_SIGNALS) process.on(name, listener);
}

/** Polls the snapshot folder and the keys file on SIGHUP, once the replica has started. */
export function pollOnSignal(starting: Promise<Pollable>, log: Logger): void {
  process.on('SIGHUP', (signal) => {
    log.info({ signal }, 'polling for new snapshots and changed keys');
    // The caller handles a failed start.
    starting.then((replica) => replica.poll()).catch(() => undefined);
  });
}
