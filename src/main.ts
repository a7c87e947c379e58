import {
  canSharePort,
  type Config,
  isLoopback,
  misspeltVariables,
  readConfig,
  WrongUsage,
} from './config.ts';
import { ProcessLog } from './log/process-log.ts';
import { startReplica } from './replica.ts';
import { pollOnSignal, stopOnSignal } from './signals.ts';

/** Runs a replica with the configuration of the environment, until a signal stops it. Its options only print. */

const WRONG_USAGE = 2;
const FAILED = 1;

const args = process.argv.slice(2);
try {
  // Imported on demand, since a start has no arguments.
  const hasPrinted = args.length > 0 && (await import('./command-line.ts')).printForArguments(args);
  if (!hasPrinted) await serve(readConfig());
} catch (error) {
  const isWrongUsage = error instanceof WrongUsage;
  const isExpected = isWrongUsage || (error instanceof Error && 'syscall' in error);
  const message = isExpected ? error.message : String(error);
  process.stderr.write(`${message}\n`);
  // A stalled log reader would prevent the process from exiting.
  process.exit(isWrongUsage ? WRONG_USAGE : FAILED);
}

async function serve(config: Config): Promise<void> {
  const log = new ProcessLog(config.logLevel);
  for (const misspelt of misspeltVariables())
    log.logger.warn(misspelt, 'unknown variable, similar to a known one');
  if (!canSharePort())
    log.logger.info('one thread answers requests: on this system, threads cannot share a port');
  if (config.trustProxy === false && !isLoopback(config.host))
    log.logger.warn(
      { host: config.host },
      'no proxy is trusted (TRUST_PROXY): the API port is for a proxy, which bounds what an address can do',
    );
  const replica = startReplica(config, log);
  stopOnSignal(replica, config, log);
  pollOnSignal(replica, log.logger);
  try {
    await replica;
  } catch (error) {
    await log.end();
    throw error;
  }
}
