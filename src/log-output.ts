import { writeSync } from 'node:fs';

const STANDARD_ERROR = 2;
/** A reader that has not read for so long is not waited for any longer. */
const LONGEST_WAIT_MS = 1000;
const PAUSE_MS = 5;

const NEW_LINE = Buffer.from('\n');

type WriteSync = (descriptor: number, bytes: Buffer, from: number) => number;

const pause = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));

/**
 * Where a log goes: what is open as a file, a pipe or a terminal. What cannot be written, since a disk is full or nobody
 * reads any more, is dropped, and said so once on standard error: a log never keeps a request from its answer, nor the
 * process from its end. (pino's own destination tries for ever.)
 */
export class LogOutput {
  readonly #descriptor: number;
  readonly #writeSync: WriteSync;
  /** Whether the last text was dropped; and whether a part of it was written before. */
  #isBroken = false;
  #isTorn = false;

  /** @param write the call of the system */
  constructor(descriptor: number, write: WriteSync = writeSync) {
    this.#descriptor = descriptor;
    this.#writeSync = write;
  }

  /** @param lines whole ones, as text or as its UTF-8 */
  write(lines: string | Buffer): void {
    const whole = typeof lines === 'string' ? Buffer.from(lines) : lines;
    // What follows a line that was cut short begins a line of its own.
    const bytes = this.#isTorn ? Buffer.concat([NEW_LINE, whole]) : whole;
    let written = 0;
    try {
      while (written < bytes.length) written += this.#writeSome(bytes, written);
      this.#isBroken = false;
      this.#isTorn = false;
    } catch (error) {
      if (written > 0) this.#isTorn = true;
      if (!this.#isBroken) tellOnStandardError(error);
      this.#isBroken = true;
    }
  }

  /** How many bytes the system took. It waits for a reader that is behind. */
  #writeSome(bytes: Buffer, from: number): number {
    const end = performance.now() + LONGEST_WAIT_MS;
    for (;;) {
      try {
        return this.#writeSync(this.#descriptor, bytes, from);
      } catch (error) {
        if (!isReaderBehind(error) || performance.now() > end) throw error;
        Atomics.wait(pause, 0, 0, PAUSE_MS);
      }
    }
  }
}

function isReaderBehind(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EAGAIN';
}

function tellOnStandardError(error: unknown): void {
  const reason = error instanceof Error ? error.message : String(error);
  try {
    writeSync(STANDARD_ERROR, `the log cannot be written, and its lines are dropped: ${reason}\n`);
  } catch {
    // There is nobody left to tell.
  }
}
