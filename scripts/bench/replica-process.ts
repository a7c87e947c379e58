import { linkSync, mkdtempSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Refused } from '../run-command.ts';
import { Child } from './child.ts';
import type { ProbeAnswer } from './probe.ts';

const MAIN = new URL('../../src/main.ts', import.meta.url);
const PROBE = new URL('./probe.ts', import.meta.url);
const POLL_SECONDS = '0.05';

/** A line of the log; the rest of its fields are of no use here. */
interface LogLine {
  readonly level: number;
  readonly msg: string;
  readonly port?: number;
}

/** pino's number for `error`. */
const ERROR_LEVEL = 50;

export interface ReplicaFiles {
  /** Where the process may have a folder of its own. */
  readonly folder: string;
  /** Snapshot files that go live by turns, each in the place of the one before. */
  readonly snapshots: readonly string[];
  readonly keysFile: string;
}

/** A replica as it is run by an operator, with a probe inside. */
export class ReplicaProcess implements AsyncDisposable {
  readonly #child: Child<ProbeAnswer>;
  readonly #folder: string;
  readonly #snapshots: readonly string[];
  #swaps = 0;
  #port = 0;
  #waiting: { readonly msg: string; readonly told: PromiseWithResolvers<LogLine> } | undefined;

  private constructor(
    { folder, snapshots, keysFile }: ReplicaFiles,
    environment: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ) {
    this.#folder = mkdtempSync(join(folder, 'replica-'));
    this.#snapshots = snapshots;
    this.#child = new Child(MAIN, signal, [], {
      execArgv: ['--import', PROBE.href],
      env: {
        PATH: process.env['PATH'],
        HOST: '127.0.0.1',
        PORT: '0',
        ADMIN_PORT: '0',
        SNAPSHOT_DIR: this.#folder,
        KEYS_FILE: keysFile,
        SNAPSHOT_POLL_SECONDS: POLL_SECONDS,
        RATE_LIMIT_PER_MINUTE: '0',
        LOG_LEVEL: 'info',
        ...environment,
      },
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    });
    const { stdout } = this.#child.process;
    if (stdout) createInterface(stdout).on('line', this.#read);
  }

  /** Starts a replica that serves the first of the snapshots. */
  static async start(
    files: ReplicaFiles,
    environment: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<ReplicaProcess> {
    const replica = new ReplicaProcess(files, environment, signal);
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

  /** Puts the next snapshot in the place of the one that is live, by rename, and waits until it is live itself. */
  async swap(): Promise<void> {
    const next = this.#snapshots[this.#swaps++ % this.#snapshots.length];
    const live = this.#says('snapshot live');
    const beside = join(this.#folder, '.next');
    linkSync(next, beside);
    renameSync(beside, join(this.#folder, 'bench.sqlite'));
    await live;
  }

  /** What the probe saw since it was asked before. */
  probe(): Promise<ProbeAnswer> {
    return this.#child.ask();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#child[Symbol.asyncDispose]();
  }

  async #says(msg: string): Promise<LogLine> {
    const told = Promise.withResolvers<LogLine>();
    this.#waiting = { msg, told };
    return await this.#child.expect(told.promise);
  }

  readonly #read = (text: string) => {
    // There are thousands of these a second, and to read them would take the time of what is measured.
    if (text.endsWith('"msg":"request"}')) return;
    const line = JSON.parse(text) as LogLine;
    if (line.msg === this.#waiting?.msg) this.#waiting.told.resolve(line);
    // Such as that a snapshot was refused.
    if (line.level >= ERROR_LEVEL) this.#waiting?.told.reject(new Refused(`the replica says: ${text}`));
  };
}
