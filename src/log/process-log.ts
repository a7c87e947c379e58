import { setTimeout as delay } from 'node:timers/promises';
import type { LevelWithSilent, Logger } from 'pino';
import { ERROR_PAUSE_MS, LogOutput } from './log-output.ts';
import { createLogger, LogRing } from './log-ring.ts';

const STANDARD_OUTPUT = 1;
const STANDARD_ERROR = 2;

const POLL_MS = 50;
/** Time without progress after which standard error reports a stall. */
const STALL_MS = 1000;
/** Default for the maximum wait at the end of the process. */
const END_MS = 1000;

/**
 * The log of the process: JSON lines of all threads, on standard output. Each thread writes to a ring of its own. The
 * main thread moves the lines from the rings to the output, one piece at a time. The rings are the only queue. While
 * the reader stalls or the output fails, they fill up, drop lines and count them; no thread waits. Once the reader has
 * closed, all lines are dropped and counted.
 */
export class ProcessLog {
  readonly logger: Logger;
  readonly #output: LogOutput;
  readonly #errorOutput = new LogOutput(STANDARD_ERROR, () => undefined);
  readonly #ownRing = new LogRing();
  /** The main thread's own ring is last: its lines follow earlier lines of other threads. */
  #rings: readonly LogRing[] = [this.#ownRing];

  /** Fulfilled when the current move has emptied the rings. */
  #moving: Promise<void> | undefined;
  #latestProgress = performance.now();
  #isFailing = false;
  /** Lines that were dropped because the reader has closed. */
  #unread = 0;
  /** Dropped lines that the log has reported. */
  #reportedDrops = 0;
  /** Whether standard error has a message about the current failure or stall. */
  #hasErrorMessage = false;
  #isWritingErrorMessage = false;

  constructor(level: LevelWithSilent) {
    this.#output = new LogOutput(STANDARD_OUTPUT, (error) => {
      this.#isFailing = true;
      this.#writeErrorMessage(error instanceof Error ? error.message : String(error));
    });
    this.logger = createLogger(level, {
      write: (line) => {
        this.#ownRing.write(line);
        this.#move();
      },
    });
    setInterval(() => {
      this.#move();
      const hasStalled = this.#moving !== undefined && performance.now() - this.#latestProgress > STALL_MS;
      if (hasStalled && this.droppedLines > this.#reportedDrops)
        this.#writeErrorMessage('the reader of standard output has stalled');
    }, POLL_MS).unref();
    process.on('exit', () => {
      // After an uncaught error, the event loop does not run.
      try {
        this.#output.writeNow(this.#takeRound());
      } catch {
        // The reader is behind or the output fails. The rest is lost.
      }
    });
  }

  get droppedLines(): number {
    return this.#rings.reduce((sum, { dropped }) => sum + dropped, this.#unread);
  }

  /** Reads the rings of other threads from now on. */
  attach(rings: readonly LogRing[]): void {
    this.#rings = [...rings, this.#ownRing];
  }

  /** Writes the remaining lines. Gives up after a time, as when the output fails or the reader stalls. */
  async end(maxWaitMs = END_MS): Promise<void> {
    this.#move();
    await Promise.race([this.#moving, delay(maxWaitMs)]);
  }

  #move(): void {
    this.#moving ??= this.#moveLines().finally(() => {
      this.#moving = undefined;
    });
  }

  async #moveLines(): Promise<void> {
    while (this.#rings.some(({ length }) => length > 0)) {
      for (const lines of this.#takeRound()) {
        if (!(await this.#output.write(lines))) {
          for (const lost of [lines, ...this.#takeRound()])
            this.#unread += lost.toString().split('\n').length - 1;
          await delay(ERROR_PAUSE_MS, undefined, { ref: false });
          break;
        }
        this.#latestProgress = performance.now();
        this.#isFailing = false;
        this.#hasErrorMessage = false;
      }
      if (!this.#isFailing) this.#reportDropped();
    }
  }

  /** Takes the lines that the rings contain now, piece by piece. A busy ring does not starve the others. */
  *#takeRound(): Generator<Buffer> {
    const lengths = this.#rings.map(({ length }) => length);
    for (const [i, ring] of this.#rings.entries()) {
      for (let left = lengths[i]; left > 0;) {
        const lines = ring.take(this.#output.maxBytes);
        left -= lines.length;
        yield lines;
      }
    }
  }

  /** Reports newly dropped lines. A full ring or a new reader precedes each report, so reports are rare. */
  #reportDropped(): void {
    const lines = this.droppedLines - this.#reportedDrops;
    if (lines === 0) return;
    this.#reportedDrops += lines;
    this.logger.warn({ lines }, 'log lines dropped');
  }

  /** Writes the reason to standard error, once for each failure or stall. */
  #writeErrorMessage(reason: string): void {
    if (this.#hasErrorMessage || this.#isWritingErrorMessage) return;
    this.#hasErrorMessage = true;
    this.#isWritingErrorMessage = true;
    const message = `cannot write the log; lines are dropped: ${reason}\n`;
    void this.#errorOutput.write(Buffer.from(message)).then(() => {
      this.#isWritingErrorMessage = false;
    });
  }
}
