import { type Config, InvalidConfig, readConfig } from './config.ts';
import { TooFewOpenFiles } from './http/connections/open-files.ts';
import { ProcessLog } from './log/process-log.ts';
import { startReplica } from './replica.ts';
import { pollOnSignal, stopOnSignal } from './signals.ts';

/** Runs a replica with the configuration of the environment, until a signal stops it. */

const WRONG_USAGE = 2;
const FAILED = 1;

try {
  await serve(readConfig());
} catch (error) {
  const isInvalidConfig = error instanceof InvalidConfig;
  const isExpected = isInvalidConfig || isSystemError(error) || error instanceof TooFewOpenFiles;
  const message = isExpected ? error.message : String(error);
  process.stderr.write(`${message}\n`);
  // A stalled log reader would prevent the process from exiting.
  process.exit(isInvalidConfig ? WRONG_USAGE : FAILED);
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
