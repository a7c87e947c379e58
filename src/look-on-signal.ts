import type { Logger } from 'pino';

/** What is to look for changes. */
interface Started {
  look(): Promise<void>;
}

/** Looks for new snapshots and changed keys at once on SIGHUP, as soon as there is somebody to look. */
export function lookOnSignal(starting: Promise<Started>, log: Logger): void {
  process.on('SIGHUP', (signal) => {
    log.info({ signal }, 'looking for new snapshots and changed keys');
    // What becomes of a start that fails is for the caller to see to.
    starting.then((started) => started.look()).catch(() => undefined);
  });
}
