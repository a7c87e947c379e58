import { constants, fstatSync, openSync, write, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { isatty } from 'node:tty';
import { promisify } from 'node:util';

/** PIPE_BUF of Linux. A pipe accepts a piece of this size whole or not at all. So lines of other writers are not interleaved. */
const ATOMIC_BYTES = 4096;
const MAX_BYTES = 64 * 1024;
const FULL_TERMINAL_PAUSE_MS = 10;
export const ERROR_PAUSE_MS = 1000;

const writeToDescriptor = promisify(write);

/** Writes some of the bytes, from the first on. Fulfilled with their number. */
type WriteSome = (bytes: Buffer) => Promise<number>;

/**
 * Writes to an open descriptor. A reader that stalls blocks no thread:
 *
 *     pipe, socket    non-blocking; the event loop waits for room
 *     terminal        non-blocking; another attempt follows after a pause
 *     file, device    blocking, in a thread of libuv's pool: there is no reader
 *
 * Other processes may share the open file description, and both its mode and its offset with it. So pipes and
 * terminals are reopened as non-blocking. Sockets cannot be reopened: their mode is set. Files are not reopened:
 * standard error may share their offset. A pipe or terminal of another user may not permit it. Then the descriptor
 * itself is used: the pipe is set to non-blocking, but the terminal blocks a thread of the pool.
 */
export class LogOutput {
  readonly maxBytes: number;
  readonly #open: () => number;
  readonly #writeSome: WriteSome;
  readonly #onError: (error: unknown) => void;

  constructor(descriptor: number, onError: (error: unknown) => void) {
    const stats = fstatSync(descriptor);
    const isShared = stats.isFIFO() || isatty(descriptor);
    this.maxBytes = isShared ? ATOMIC_BYTES : MAX_BYTES;
    this.#open = () => (isShared ? reopen(descriptor) : descriptor);
    this.#writeSome =
      stats.isFIFO() || stats.isSocket() ? streamWriter(this.#open) : descriptorWriter(this.#open());
    this.#onError = onError;
  }

  /** Writes all of the bytes. Tries again after an error, until it succeeds. False if the reader has closed. */
  async write(lines: Buffer): Promise<boolean> {
    for (let rest = lines; rest.length > 0;) {
      try {
        rest = rest.subarray(await this.#writeSome(rest));
      } catch (error) {
        this.#onError(error);
        if (error instanceof Error && 'code' in error && error.code === 'EPIPE') return false;
        await delay(ERROR_PAUSE_MS, undefined, { ref: false });
      }
    }
    return true;
  }

  /**
   * Writes the pieces before it returns.
   * @throws the system's error; EAGAIN when the reader is behind
   */
  writeNow(pieces: Iterable<Buffer>): void {
    const descriptor = this.#open();
    for (const lines of pieces) {
      for (let written = 0; written < lines.length;) written += writeSync(descriptor, lines, written);
    }
  }
}

/** Reopens a pipe or terminal. Returns the given descriptor when that fails. */
function reopen(descriptor: number): number {
  try {
    const flags = constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY;
    return openSync(`/proc/self/fd/${descriptor}`, flags);
  } catch {
    return descriptor;
  }
}

/** Writes to a pipe or socket. Reopens it after an error, since a named pipe may have a new reader. */
function streamWriter(open: () => number): WriteSome {
  let socket: Socket | undefined;
  const connect = (): Socket => {
    const opened = new Socket({ fd: open(), readable: false, writable: true });
    return opened.on('error', () => {
      socket = undefined;
    });
  };
  return (bytes) =>
    new Promise((resolve, reject) => {
      socket ??= connect();
      socket.write(bytes, (error) => {
        if (error) reject(error);
        else resolve(bytes.length);
      });
    });
}

/** Writes to a terminal, file or device. No event reports that a full terminal has room again. */
function descriptorWriter(descriptor: number): WriteSome {
  return async (bytes) => {
    try {
      const { bytesWritten } = await writeToDescriptor(descriptor, bytes);
      return bytesWritten;
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) throw error;
      await delay(FULL_TERMINAL_PAUSE_MS, undefined, { ref: false });
      return 0;
    }
  };
}
