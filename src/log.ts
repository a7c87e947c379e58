import { pino } from 'pino';
import type { LevelWithSilent, Logger } from 'pino';

const STANDARD_OUTPUT = 1;
/** A pipe takes so many bytes or none of them (PIPE_BUF of Linux): whatever else writes to it, no line is torn. */
const MOST_BYTES = 4096;
/** Lines wait for so many bytes of others: one system call writes some fifteen of them. */
const LEAST_BYTES = MOST_BYTES - 512;
/** Nor does a line wait longer than this. */
const LONGEST_WAIT_MS = 100;

export interface Log {
  readonly log: Logger;
  /** Writes at once what waits. The end of the process, or of its thread, does that too, unless it is killed. */
  readonly flush: () => void;
}

/**
 * The log of this thread: lines of JSON, written in batches. The thread writes them itself, since what another one
 * was still to write would be lost at the end.
 *
 * @param destination path of a file, or descriptor of what is open
 */
export function createLog(level: LevelWithSilent, destination: string | number = STANDARD_OUTPUT): Log {
  const lines = pino.destination({
    dest: destination,
    sync: true,
    minLength: LEAST_BYTES,
    maxWrite: MOST_BYTES,
    periodicFlush: LONGEST_WAIT_MS,
  });
  const flush = (): void => {
    try {
      lines.flushSync();
    } catch {
      // Whoever read the log is gone, and nobody else is there to tell.
    }
  };
  process.on('exit', flush);
  return { log: pino({ level }, lines), flush };
}
