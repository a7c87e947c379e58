import { isMainThread, Worker, workerData } from 'node:worker_threads';
import { type LevelWithSilent, pino } from 'pino';
import { LogRing } from '../../src/log/log-ring.ts';
import { ProcessLog } from '../../src/log/process-log.ts';

/**
 * A process whose main thread and another thread write to its log, as told by its parent. Its other thread ends when it
 * has written, by an error. A line of standard input is announced to the parent.
 */

export type Told =
  /** Has the other thread write lines, then the main thread. Answered with `Written`. */
  | { readonly write: number }
  /** Writes text to standard error. */
  | { readonly tell: string }
  /** Ends the process: with the end of the log, which waits for its reader for so long at most, or without notice. */
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
  log.follow([ring]);
  process.stdin.on('data', () => process.send?.('input'));
  process.on('message', (told: Told) => {
    if ('write' in told) void write(told.write);
    else if ('tell' in told) process.stderr.write(told.tell);
    else if (told.end === 'orderly') void end(told.longestWaitMs);
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
  writeLines(pino({ level }, new LogRing(memory)), 'other', count);
  throw new Error('on purpose');
}
