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
import { NEVER_REACHED_LIMIT } from '../load/traffic.ts';
import { ProbedProcess } from './child.ts';
import type { ProbeAnswer } from './probe.ts';

/** The checkout that this file belongs to. */
export const THIS_CHECKOUT = new URL('../../..', import.meta.url);

/**
 * The watch for overload runs, and refuses nobody: at the peak, on a machine that others use as well, an event loop
 * may well be so late. The most that Foyer takes.
 */
const NEVER_OVERLOADED_MS = '60000';

export interface ReplicaFiles {
  /** Where the process may have a folder of its own. */
  readonly folder: string;
  /** Snapshot files that go live by turns, each in the place of the one before. */
  readonly snapshots: readonly string[];
  readonly keysFile: string;
  readonly credential: string;
}

/** A replica as it is run by an operator, with everything on, and a probe inside. */
export class ReplicaProcess implements AsyncDisposable {
  readonly #process: ProbedProcess;
  readonly #log: LogFile;
  readonly #files: ReplicaFiles;
  readonly #snapshotDir: string;
  #swaps = 0;
  #port = 0;
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
        RATE_LIMIT_PER_MINUTE: String(NEVER_REACHED_LIMIT),
        OVERLOAD_DELAY_MS: NEVER_OVERLOADED_MS,
        LOG_LEVEL: 'info',
        THREADS: '1',
        ...environment,
      },
    });
  }

  /**
   * Starts a replica that serves the first of the snapshots.
   * @param checkout folder of the Foyer that is started
   */
  static async start(
    files: ReplicaFiles,
    environment: Readonly<Record<string, string>>,
    signal: AbortSignal,
    checkout = THIS_CHECKOUT,
  ): Promise<ReplicaProcess> {
    const replica = new ReplicaProcess(files, environment, signal, checkout);
    try {
      replica.#port = (await replica.#says('listening')).port ?? 0;
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

  /** What the log says that the load of the snapshot that is live took, in milliseconds. */
  get loadMs(): number {
    return this.#loadMs;
  }

  /** Puts the next snapshot in the place of the one that is live, by rename, and waits until it is live itself. */
  async swap(): Promise<void> {
    const { snapshots } = this.#files;
    const beside = join(this.#snapshotDir, '.next');
    linkSync(snapshots[this.#swaps++ % snapshots.length], beside);
    renameSync(beside, join(this.#snapshotDir, 'bench.sqlite'));
    this.#loadMs = (await this.#says('snapshot live')).durationMs ?? NaN;
  }

  /** What the probe saw since it was asked before. */
  probe(): Promise<ProbeAnswer> {
    return this.#process.probe();
  }

  #says(msg: string): Promise<LogLine> {
    return this.#process.expect(this.#log.says(msg, this.#process.over));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process[Symbol.asyncDispose]();
  }
}

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
