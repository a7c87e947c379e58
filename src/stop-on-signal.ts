import type { Logger } from 'pino';
import type { Replica } from './replica.ts';

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

/** Ends the process with 0 on a signal, after the requests under way; at once on a second one. */
export function stopOnSignal(replica: Replica, graceSeconds: number, log: Logger): void {
  const stop = (signal: NodeJS.Signals) => {
    for (const name of SIGNALS) process.off(name, stop);
    log.info({ signal }, 'stopping');
    void replica.stop(graceSeconds).then(() => {
      log.info('stopped');
      process.exit(0);
    });
  };
  for (const name of SIGNALS) process.on(name, stop);
}
