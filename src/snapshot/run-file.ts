import { closeSync, openSync, readSync, writeSync } from 'node:fs';

/** Bytes of a run from which it is worth to go on to the next. */
const RUN_BYTES = 16 * 1024 * 1024;
const WRITE_BYTES = 1024 * 1024;
const WINDOW_BYTES = 128 * 1024;

interface Run {
  readonly start: number;
  /** The part of the run that was read last: `windowLength` bytes of the file from `windowStart`. */
  windowStart: number;
  windowLength: number;
  window: Buffer;
}

/**
 * A temporary file of pieces that are written in runs, each run in the order in which all of them are later asked
 * for. So every run is read from its beginning to its end, in large parts: the reading half of a merge sort.
 */
export class RunFile {
  readonly #file: number;
  #size = 0;
  readonly #runs: Run[] = [];
  readonly #writeBuffer = Buffer.allocUnsafeSlow(WRITE_BYTES);
  #unwritten = 0;

  /** `path`: a file that is not there yet. */
  constructor(path: string) {
    this.#file = openSync(path, 'wx+');
  }

  /** Whether so much waits that it should become a run. */
  static isRun(bytes: number): boolean {
    return bytes >= RUN_BYTES;
  }

  beginRun(): void {
    this.#runs.push({ start: this.#size, windowStart: 0, windowLength: 0, window: Buffer.alloc(0) });
  }

  /** Adds a piece to the run. Returns its position. */
  append(piece: Buffer): number {
    const position = this.#size;
    if (this.#unwritten + piece.length > WRITE_BYTES) this.endRun();
    if (piece.length > WRITE_BYTES) this.#write(piece);
    else this.#unwritten += piece.copy(this.#writeBuffer, this.#unwritten);
    this.#size += piece.length;
    return position;
  }

  /** To be called before anything is read. */
  endRun(): void {
    this.#write(this.#writeBuffer.subarray(0, this.#unwritten));
    this.#unwritten = 0;
  }

  /** The bytes at a position; valid until the next call. */
  read(position: number, length: number): Buffer {
    const run = this.#runOf(position);
    if (position < run.windowStart || position + length > run.windowStart + run.windowLength) {
      if (run.window.length < length) run.window = Buffer.allocUnsafeSlow(Math.max(WINDOW_BYTES, length));
      run.windowStart = position;
      run.windowLength = readSync(this.#file, run.window, 0, run.window.length, position);
    }
    const start = position - run.windowStart;
    return run.window.subarray(start, start + length);
  }

  close(): void {
    closeSync(this.#file);
  }

  #runOf(position: number): Run {
    let low = 0;
    let high = this.#runs.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (this.#runs[middle].start <= position) low = middle;
      else high = middle - 1;
    }
    return this.#runs[low];
  }

  #write(bytes: Buffer): void {
    for (let at = 0; at < bytes.length;) at += writeSync(this.#file, bytes, at);
  }
}
