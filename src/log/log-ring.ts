import { type DestinationStream, type LevelWithSilent, type Logger, pino } from 'pino';

/**
 * Room for some 15,000 request lines: half a second or less at full load. A power of two, so that a mask converts
 * positions to offsets.
 */
const BYTES = 4 * 1024 * 1024;
const NEW_LINE = 0x0a;

const WRITTEN = 0;
const TAKEN = 1;
const DROPPED = 2;
const NUMBERS = 4;
const HEAD_BYTES = NUMBERS * Int32Array.BYTES_PER_ELEMENT;

/**
 * A ring buffer of log lines between two threads, in shared memory. A line without room is dropped and counted.
 * Written lines survive the thread.
 *
 *     written  taken  dropped  (unused)  | bytes …
 *
 * `written` and `taken` count bytes since the beginning, and `dropped` counts lines, as 32-bit integers that wrap
 * around. The bytes from `taken` to `written` are whole lines: `written` advances when a line is complete.
 */
export class LogRing {
  readonly memory: SharedArrayBuffer;
  readonly #numbers: Int32Array<SharedArrayBuffer>;
  readonly #bytes: Buffer;

  constructor(memory = new SharedArrayBuffer(HEAD_BYTES + BYTES)) {
    this.memory = memory;
    this.#numbers = new Int32Array(memory, 0, NUMBERS);
    this.#bytes = Buffer.from(memory, HEAD_BYTES);
  }

  /** Bytes that can be taken. */
  get length(): number {
    // The numbers wrap around, and so does their difference.
    return (Atomics.load(this.#numbers, WRITTEN) - Atomics.load(this.#numbers, TAKEN)) | 0;
  }

  get dropped(): number {
    return Atomics.load(this.#numbers, DROPPED) >>> 0;
  }

  /**
   * Appends a line, or drops it. One thread at a time may write.
   *
   * @param line ends with its only line feed
   */
  write(line: string): void {
    const capacity = this.#bytes.length;
    const bytes = Buffer.from(line);
    if (bytes.length > capacity - this.length) {
      Atomics.add(this.#numbers, DROPPED, 1);
      return;
    }
    const written = this.#numbers[WRITTEN];
    const beforeEnd = bytes.copy(this.#bytes, written & (capacity - 1));
    bytes.copy(this.#bytes, 0, beforeEnd);
    Atomics.store(this.#numbers, WRITTEN, written + bytes.length);
  }

  /**
   * Removes the first lines and returns them. Only one thread may call it.
   *
   * @param maxBytes in total; a longer line is returned alone
   */
  take(maxBytes: number): Buffer {
    let lines = this.#copy(Math.min(maxBytes, this.length));
    let end = lines.lastIndexOf(NEW_LINE) + 1;
    if (end === 0) {
      lines = this.#copy(this.length);
      end = lines.indexOf(NEW_LINE) + 1;
    }
    Atomics.store(this.#numbers, TAKEN, this.#numbers[TAKEN] + end);
    return lines.subarray(0, end);
  }

  #copy(length: number): Buffer {
    const at = this.#numbers[TAKEN] & (this.#bytes.length - 1);
    const copy = Buffer.allocUnsafe(length);
    const beforeEnd = this.#bytes.copy(copy, 0, at, at + length);
    this.#bytes.copy(copy, beforeEnd, 0, length - beforeEnd);
    return copy;
  }
}

/** Creates a logger of JSON lines, with names of levels, and times in ISO 8601. */
export function createLogger(level: LevelWithSilent, destination: DestinationStream): Logger {
  const formatters = { level: (name: string) => ({ level: name }) };
  return pino({ level, timestamp: pino.stdTimeFunctions.isoTime, formatters }, destination);
}
