import { isMainThread, Worker, workerData } from 'node:worker_threads';
import type { LevelWithSilent } from 'pino';
import { createLogger, LogRing } from '../../src/log/log-ring.ts';
import { ProcessLog } from '../../src/log/process-log.ts';

/**
 * A process whose main thread and another thread write to its log at the commands of its parent. The other thread ends
 * by an error after its lines. The process reports each line of standard input to its parent.
 */

export type WriterCommand =
  /** Makes the other thread write lines, then the main thread. The result is `Written`. */
  | { readonly write: number }
  /** Writes text to standard error. */
  | { readonly standardError: string }
  /** Ends the process: in order, with a longest wait for the log's reader, or by an error. */
  | { readonly end: 'orderly'; readonly longestWaitMs?: number }
  | { readonly end: 'error' };

export interface Written {
  readonly dropped: number;
}

function writeLines(log: Pick<ProcessLog['logger'], 'info'>, thread: string, count: number): void {
  for (let n = 0; n < count; n++) log.info({ thread, n, text: 'é'.repeat(n % 100) }, 'line');
}

const level = (process.argv[2] ?? 'info') as LevelWithSilent;

if (isMainThread) {
  const log = new ProcessLog(level);
  const ring = new LogRing();
  log.attach([ring]);
  process.stdin.on('data', () => process.send?.('input'));
  process.on('message', (command: WriterCommand) => {
    if ('write' in command) void write(command.write);
    else if ('standardError' in command) process.stderr.write(command.standardError);
    else if (command.end === 'orderly') void end(command.longestWaitMs);
    else fail();
  });

  async function write(count: number): Promise<void> {
    const other = new Worker(new URL(import.meta.url), {
      argv: [level],
      workerData: { memory: ring.memory, count },
    });
    other.on('error', () => undefined);
    await new Promise((resolve) => other.on('exit', resolve));
    writeLines(log.logger, 'main', Math.min(count, 100));
    const written: Written = { dropped: log.droppedLines };
    process.send?.(written);
  }

  function writeLastLines(): void {
    log.logger.warn('last but one');
    log.logger.warn('last');
  }

  async function end(longestWaitMs?: number): Promise<void> {
    writeLastLines();
    await log.end(longestWaitMs);
    process.exit(0);
  }

  function fail(): void {
    writeLastLines();
    throw new Error('on purpose');
  }
} else {
  const { memory, count } = workerData as { memory: SharedArrayBuffer; count: number };
  writeLines(createLogger(level, new LogRing(memory)), 'other', count);
  throw new Error('on purpose');
}
