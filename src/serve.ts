import { type Config, InvalidConfig, readConfig } from './config.ts';
import { ProcessLog } from './log/process-log.ts';
import { startReplica } from './replica.ts';
import { pollOnSignal, stopOnSignal } from './signals.ts';

/** The process: configuration, supervisor, signals. */

const WRONG_USAGE = 2;
const FAILED = 1;

try {
  await serve(readConfig());
} catch (error) {
  const isMistake = error instanceof InvalidConfig;
  process.stderr.write(`${isMistake || isSystemError(error) ? error.message : String(error)}\n`);
  // At once: a reader of the log that has stalled would keep the process running.
  process.exit(isMistake ? WRONG_USAGE : FAILED);
}

async function serve(config: Config): Promise<void> {
  const log = new ProcessLog(config.logLevel);
  const replica = startReplica(config, log);
  stopOnSignal(replica, config.shutdownGraceSeconds, log);
  pollOnSignal(replica, log.logger);
  try {
    await replica;
  } catch (error) {
    await log.end();
    throw error;
  }
}

function isSystemError(error: unknown): error is Error {
  return error instanceof Error && 'syscall' in error;
}
