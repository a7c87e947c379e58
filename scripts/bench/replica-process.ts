import { linkSync, mkdirSync, mkdtempSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { LogFile, type LogLine } from './log-file.ts';
import { NEVER_REACHED_LIMIT } from './never-reached-limit.ts';
import type { ProbeAnswer } from './probe.ts';
import { ProbedProcess } from './probed-process.ts';

/** The checkout that this file belongs to. */
export const THIS_CHECKOUT = new URL('../..', import.meta.url);

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
