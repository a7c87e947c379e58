import {
  closeSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Refused } from '../../run-command.ts';
import { type Target, type Traffic, UNREACHED_RATE_LIMIT } from '../load/traffic.ts';
import { ProbedProcess } from './child.ts';
import type { ProbeReport } from './probe.ts';
import { MEGABYTE } from '../../../src/store/memory/shared-arrays.ts';

/** The root folder of this checkout. */
export const THIS_CHECKOUT = new URL('../../..', import.meta.url);

/**
 * The overload check runs but never refuses: at peak load on a shared machine requests can wait for any time. The highest value that
 * Foyer accepts.
 */
const NEVER_OVERLOADED_MS = '60000';
/** pino's number for `error`. */
const ERROR_LEVEL = 50;
const LOG_POLL_MS = 10;
const NEW_LINE = 0x0a;
/** End of a request's log line. There are thousands a second, and parsing them would take processor time from the measurement. */
const REQUEST_LINE_END = '"msg":"request"}';

export interface ReplicaFiles {
  /** Folder in which the process may have a folder of its own. */
  readonly folder: string;
  /** Snapshot files that go live in rotation, each in the place of the last. */
  readonly snapshots: readonly string[];
  readonly keysFile: string;
  readonly credential: string;
}

/** A replica in its own process as an operator runs it, with every check enabled and the probe loaded. */
export class ReplicaProcess implements AsyncDisposable {
  readonly #process: ProbedProcess;
  readonly #log: LogFile;
  readonly #files: ReplicaFiles;
  readonly #snapshotDir: string;
  #swaps = 0;
  #port = 0;
  #adminPort = 0;
  #loadMs = NaN;

  private constructor(
    files: ReplicaFiles,
    environment: Readonly<Record<string, string>>,
    signal: AbortSignal,
    checkout: URL,
  ) {
    const folder = mkdtempSync(join(files.folder, 'replica-'));
    this.#files = files;
    this.#snapshotDir = join(folder, 'snapshots');
    mkdirSync(this.#snapshotDir);
    this.#log = new LogFile(join(folder, 'log.ndjson'));
    this.#process = new ProbedProcess(new URL('src/main.ts', checkout), signal, {
      output: this.#log.path,
      environment: {
        HOST: '127.0.0.1',
        PORT: '0',
        ADMIN_PORT: '0',
        SNAPSHOT_DIR: this.#snapshotDir,
        KEYS_FILE: files.keysFile,
        RATE_LIMIT_PER_MINUTE: String(UNREACHED_RATE_LIMIT),
        OVERLOAD_DELAY_MS: NEVER_OVERLOADED_MS,
        LOG_LEVEL: 'info',
        THREADS: '1',
        ...environment,
      },
    });
  }

  /**
   * Starts a replica and waits until its first snapshot is live.
   * @param checkout root folder of the checkout to start
   */
  static async start(
    files: ReplicaFiles,
    environment: Readonly<Record<string, string>>,
    signal: AbortSignal,
    checkout = THIS_CHECKOUT,
  ): Promise<ReplicaProcess> {
    const replica = new ReplicaProcess(files, environment, signal, checkout);
    try {
      replica.#adminPort = (await replica.#logLine('listening for operators')).port ?? 0;
      replica.#port = (await replica.#logLine('listening')).port ?? 0;
      await replica.swap();
      return replica;
    } catch (error) {
      await replica[Symbol.asyncDispose]();
      throw error;
    }
  }

  get port(): number {
    return this.#port;
  }

  get adminPort(): number {
    return this.#adminPort;
  }

  /** Load time of the live snapshot according to the log, in milliseconds. */
  get loadMs(): number {
    return this.#loadMs;
  }

  /** Returns traffic to this replica, with 200 as the expected status. */
  traffic(targets: readonly Target[]): Traffic {
    return { port: this.#port, credential: this.#files.credential, targets, status: 200 };
  }

  /** Replaces the live snapshot by the next one, by rename, and waits until that one is live. */
  async swap(): Promise<void> {
    const { snapshots } = this.#files;
    const next = join(this.#snapshotDir, '.next');
    linkSync(snapshots[this.#swaps++ % snapshots.length], next);
    renameSync(next, join(this.#snapshotDir, 'bench.sqlite'));
    this.#loadMs = (await this.#logLine('snapshot live')).durationMs ?? NaN;
  }

  /** Returns the measurements of the probe since the last report. */
  probe(): Promise<ProbeReport> {
    return this.#process.probe();
  }

  #logLine(msg: string): Promise<LogLine> {
    return this.#process.waitFor(this.#log.next(msg, this.#process.ended));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process[Symbol.asyncDispose]();
  }
}

/** A line of Foyer's log, with the fields that the bench reads. */
interface LogLine {
  readonly level: number;
  readonly msg: string;
  readonly port?: number;
  readonly durationMs?: number;
}

/** Follows a log that a process writes to a file. */
class LogFile {
  readonly path: string;
  readonly #chunk = Buffer.allocUnsafe(MEGABYTE);
  #read = 0;

  constructor(path: string) {
    this.path = path;
    writeFileSync(path, '');
  }

  /**
   * Waits for the next line with a message, starting after the last line found.
   * @throws Refused when an error is logged before it
   */
  async next(msg: string, signal: AbortSignal): Promise<LogLine> {
    const file = openSync(this.path, 'r');
    try {
      for (;;) {
        const bytes = readSync(file, this.#chunk, 0, this.#chunk.length, this.#read);
        const end = this.#chunk.subarray(0, bytes).lastIndexOf(NEW_LINE) + 1;
        for (const text of linesOf(this.#chunk.subarray(0, end))) {
          this.#read += Buffer.byteLength(text) + 1;
          if (text.endsWith(REQUEST_LINE_END)) continue;
          const line = JSON.parse(text) as LogLine;
          if (line.msg === msg) return line;
          // A refused snapshot, for example.
          if (line.level >= ERROR_LEVEL) throw new Refused(`the replica logged an error: ${text}`);
        }
        if (end === 0) await pause(LOG_POLL_MS, undefined, { signal });
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
