import { InvalidConfig, readConfig } from './config.ts';
import { createPromptLog } from './log.ts';
import { lookOnSignal } from './look-on-signal.ts';
import { startReplica } from './replica.ts';
import { stopOnSignal } from './stop-on-signal.ts';

/** The process: configuration, supervisor, signals. */

const WRONG_USAGE = 2;
const FAILED = 1;

try {
  const config = readConfig();
  const log = createPromptLog(config.logLevel);
  const replica = startReplica(config, log);
  stopOnSignal(replica, config.shutdownGraceSeconds, log);
  lookOnSignal(replica, log);
  await replica;
} catch (error) {
  const isMistake = error instanceof InvalidConfig;
  process.stderr.write(`${isMistake || isSystemError(error) ? error.message : String(error)}\n`);
  process.exitCode = isMistake ? WRONG_USAGE : FAILED;
}

function isSystemError(error: unknown): error is Error {
  return error instanceof Error && 'syscall' in error;
}
