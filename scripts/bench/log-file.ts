import { closeSync, openSync, readSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { Refused } from '../run-command.ts';

/** A line of Foyer's log; the rest of its fields are of no use here. */
export interface LogLine {
  readonly level: number;
  readonly msg: string;
  readonly port?: number;
  readonly durationMs?: number;
}

/** pino's number for `error`. */
const ERROR_LEVEL = 50;
const LOOK_MS = 10;
const NEW_LINE = 0x0a;
/** There are thousands of these a second, and to parse them would take the time of what is measured. */
const REQUEST_LINE = '"msg":"request"}';

/** Follows a log that a process writes to a file. */
export class LogFile {
  readonly path: string;
  readonly #chunk = Buffer.allocUnsafe(1024 * 1024);
  #read = 0;

  constructor(path: string) {
    this.path = path;
    writeFileSync(path, '');
  }

  /**
   * The next line with a message, from where the last one was found.
   * @param signal ends the wait for it
   * @throws Refused when an error is logged before it
   */
  async says(msg: string, signal: AbortSignal): Promise<LogLine> {
    const file = openSync(this.path, 'r');
    try {
      for (;;) {
        const bytes = readSync(file, this.#chunk, 0, this.#chunk.length, this.#read);
        const end = this.#chunk.subarray(0, bytes).lastIndexOf(NEW_LINE) + 1;
        for (const text of linesOf(this.#chunk.subarray(0, end))) {
          this.#read += Buffer.byteLength(text) + 1;
          if (text.endsWith(REQUEST_LINE)) continue;
          const line = JSON.parse(text) as LogLine;
          if (line.msg === msg) return line;
          // Such as that a snapshot was refused.
          if (line.level >= ERROR_LEVEL) throw new Refused(`the replica says: ${text}`);
        }
        if (end === 0) await pause(LOOK_MS, undefined, { signal });
      }
    } finally {
      closeSync(file);
    }
  }
}

function* linesOf(whole: Buffer): Generator<string> {
  for (let at = 0; at < whole.length;) {
    const end = whole.indexOf(NEW_LINE, at);
    yield whole.toString('utf8', at, end);
    at = end + 1;
  }
}
