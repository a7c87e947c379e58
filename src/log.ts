import { openSync } from 'node:fs';
import { pino } from 'pino';
import type { LevelWithSilent, Logger } from 'pino';
import { LogOutput } from './log-output.ts';

const STANDARD_OUTPUT = 1;
/**
 * Some fifteen lines. A pipe takes so many bytes or none of them (PIPE_BUF of Linux): whatever else writes to it, no
 * line is torn.
 */
const MOST_BYTES = 4096;
/** No line waits longer than this for others. */
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
  const descriptor = typeof destination === 'string' ? openSync(destination, 'a') : destination;
  const batches = new Batches(new LogOutput(descriptor));
  const flush = (): void => {
    batches.flush();
  };
  setInterval(flush, LONGEST_WAIT_MS).unref();
  process.on('exit', flush);
  return { log: pino({ level }, batches), flush };
}

/** The log of a thread that has little to say: each line is written at once. */
export function createPromptLog(level: LevelWithSilent): Logger {
  return pino({ level }, new LogOutput(STANDARD_OUTPUT));
}

/** Puts lines together until they are as long as may be. */
class Batches {
  readonly #output: LogOutput;
  #lines = '';
  #bytes = 0;

  constructor(output: LogOutput) {
    this.#output = output;
  }

  write(line: string): void {
    const bytes = Buffer.byteLength(line);
    if (this.#bytes + bytes > MOST_BYTES) this.flush();
    this.#lines += line;
    this.#bytes += bytes;
  }

  flush(): void {
    if (this.#bytes === 0) return;
    const lines = this.#lines;
    this.#lines = '';
    this.#bytes = 0;
    this.#output.write(lines);
  }
}
