import { pino } from 'pino';
import { InvalidConfig, readConfig } from './config.ts';
import { startReplica } from './replica.ts';

/** The process: configuration, log, signals. */

const WRONG_USAGE = 2;
const FAILED = 1;

try {
  const config = readConfig();
  const log = pino({ level: config.logLevel });
  const replica = await startReplica(config, log);

  const stop = (signal: NodeJS.Signals) => {
    // A second signal finds no listener, and ends the process at once.
    for (const name of ['SIGTERM', 'SIGINT'] as const) process.off(name, stop);
    log.info({ signal }, 'stopping');
    void replica.stop(config.shutdownGraceSeconds).then(() => {
      log.info('stopped');
      process.exit(0);
    });
  };
  process.on('SIGTERM', stop).on('SIGINT', stop);
} catch (error) {
  const isMistake = error instanceof InvalidConfig;
  process.stderr.write(`${isMistake || isSystemError(error) ? error.message : String(error)}\n`);
  process.exitCode = isMistake ? WRONG_USAGE : FAILED;
}

function isSystemError(error: unknown): error is Error {
  return error instanceof Error && 'syscall' in error;
}
