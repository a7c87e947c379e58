import type { Logger } from 'pino';
import type { Config } from './config.ts';
import type { ProcessLog } from './log/process-log.ts';
import type { Replica } from './replica.ts';

const STOP_SIGNALS = ['SIGTERM', 'SIGINT'] as const;
const FAILED = 1;

/**
 * Stops the replica on SIGTERM or SIGINT, then exits with 0. A second signal ends the process at once.
 * Accepts a replica that is still starting, so that early signals are handled.
 *
 * @param starting the caller handles its rejection
 */
export function stopOnSignal(
  starting: Promise<Pick<Replica, 'stop'>>,
  config: Pick<Config, 'shutdownDelaySeconds' | 'shutdownGraceSeconds'>,
  log: Pick<ProcessLog, 'logger' | 'end'>,
): void {
  const { logger } = log;
  const stop = async (signal: NodeJS.Signals): Promise<void> => {
    // The next signal has its default action: it ends the process.
    for (const name of STOP_SIGNALS) process.off(name, listener);
    const replica = await starting.catch(() => undefined);
    if (replica === undefined) return;
    let exitCode = 0;
    try {
      // SIGINT is Ctrl-C: a user waits at the terminal, and no proxy has to notice.
      const delaySeconds = signal === 'SIGINT' ? 0 : config.shutdownDelaySeconds;
      const stopped = replica.stop(delaySeconds, config.shutdownGraceSeconds);
      logger.info({ signal }, 'stopping');
      await stopped;
      logger.info('stopped');
    } catch (error) {
      logger.error(error, 'could not stop');
      exitCode = FAILED;
    }
    await log.end();
    process.exit(exitCode);
  };
  const listener = (signal: NodeJS.Signals) => void stop(signal);
  for (const name of STOP_SIGNALS) process.on(name, listener);
}

/** Polls the snapshot folder and the keys file on SIGHUP, once the replica has started. */
export function pollOnSignal(starting: Promise<Pick<Replica, 'poll'>>, log: Logger): void {
  process.on('SIGHUP', (signal) => {
    log.info({ signal }, 'polling for new snapshots and changed keys');
    // The caller handles a failed start.
    starting.then((replica) => replica.poll()).catch(() => undefined);
  });
}
