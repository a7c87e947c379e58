import type { Logger } from 'pino';

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;
const FAILED = 1;

/** The log, which is written to its end before the process ends. */
interface EndedLog {
  readonly logger: Logger;
  end(): Promise<void>;
}

/** What is to be stopped. */
interface Started {
  /** @param hurry whether somebody waits for the end, and nobody is to be waited for but requests under way */
  stop(graceSeconds: number, hurry: boolean): Promise<void>;
}

/**
 * Ends the process with 0 on a signal, after the requests under way; at once on a second one. To be called before the
 * replica has started, so that a signal finds nobody unprepared.
 *
 * @param starting what becomes of a start that fails is for the caller to see to
 */
export function stopOnSignal(starting: Promise<Started>, graceSeconds: number, log: EndedLog): void {
  const { logger } = log;
  const stop = async (signal: NodeJS.Signals): Promise<void> => {
    // The next signal finds the system's own way to take it: it ends the process.
    for (const name of SIGNALS) process.off(name, listener);
    const started = await starting.catch(() => undefined);
    if (started === undefined) return;
    try {
      // Ctrl-C: somebody at a terminal waits for the prompt.
      const stopped = started.stop(graceSeconds, signal === 'SIGINT');
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
  for (const name of SIGNALS) process.on(name, listener);
}
