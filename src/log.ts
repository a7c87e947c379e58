import { fstatSync, openSync } from 'node:fs';
import { pino } from 'pino';
import type { LevelWithSilent, Logger } from 'pino';
import { LogOutput } from './log-output.ts';

const STANDARD_OUTPUT = 1;
/**
 * Some fifteen lines. A pipe takes so many bytes or none of them (PIPE_BUF of Linux): whatever else writes to it, no
 * line is torn.
 */
const MOST_BYTES = 4096;
/** A file takes all that it is given in one step. */
const MOST_BYTES_OF_FILE = 64 * 1024;
/** UTF-8 of one UTF-16 code unit. */
const MOST_BYTES_OF_UNIT = 3;
/** No line waits longer than this for others. */
const LONGEST_WAIT_MS = 100;

export interface Log {
  readonly log: Logger;
  /** Takes whole lines, beside those of `log`. */
  readonly destination: { write(line: string): void };
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
  const mostBytes = fstatSync(descriptor).isFile() ? MOST_BYTES_OF_FILE : MOST_BYTES;
  const batches = new Batches(new LogOutput(descriptor), mostBytes);
  const flush = (): void => {
    batches.flush();
  };
  setInterval(flush, LONGEST_WAIT_MS).unref();
  process.on('exit', flush);
  return { log: pino({ level }, batches), destination: batches, flush };
}

/** The log of a thread that has little to say: each line is written at once. */
export function createPromptLog(level: LevelWithSilent): Logger {
  return pino({ level }, new LogOutput(STANDARD_OUTPUT));
}

/** Puts lines together until they are as long as may be. */
class Batches {
  readonly #output: LogOutput;
  readonly #lines: Buffer;
  #bytes = 0;

  constructor(output: LogOutput, mostBytes: number) {
    this.#output = output;
    this.#lines = Buffer.allocUnsafeSlow(mostBytes);
  }

  write(line: string): void {
    if (!this.#hasRoomFor(line)) this.flush();
    if (this.#hasRoomFor(line)) this.#bytes += this.#lines.write(line, this.#bytes);
    else this.#output.write(line);
  }

  flush(): void {
    if (this.#bytes === 0) return;
    const lines = this.#lines.subarray(0, this.#bytes);
    this.#bytes = 0;
    this.#output.write(lines);
  }

  #hasRoomFor(line: string): boolean {
    const room = this.#lines.length - this.#bytes;
    return line.length * MOST_BYTES_OF_UNIT <= room || Buffer.byteLength(line) <= room;
  }
}
