import type { Logger } from 'pino';
import type { Replica } from './replica.ts';

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

/**
 * Ends the process with 0 on a signal, after the requests under way; at once on a second one. To be called before the
 * replica has started, so that a signal finds nobody unprepared.
 */
export function stopOnSignal(replica: Promise<Replica>, graceSeconds: number, log: Logger): void {
  const stop = (signal: NodeJS.Signals) => {
    for (const name of SIGNALS) process.off(name, stop);
    log.info({ signal }, 'stopping');
    void replica
      .then((started) => started.stop(graceSeconds))
      .then(() => {
        log.info('stopped');
        process.exit(0);
      });
  };
  for (const name of SIGNALS) process.on(name, stop);
}
