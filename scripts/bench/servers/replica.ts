import { linkSync, mkdirSync, mkdtempSync, openSync, readSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { MEGABYTE } from '../../../src/store/memory/shared-arrays.ts';
import { Refused } from '../../run-command.ts';
import { ServerProcess } from './processes.ts';

/** Requests a minute, the highest that Foyer accepts: the limiter counts and sends its headers, but never refuses. */
const UNREACHED_RATE_LIMIT = '16000000';
/**
 * The overload check runs but never refuses: at peak load on a shared machine requests can wait for any time. The highest
 * value that Foyer accepts.
 */
const NEVER_OVERLOADED_MS = '60000';
/** Levels of errors: the name, and the number in checkouts up to version 1.0.0. */
const ERROR_LEVELS: readonly unknown[] = ['error', 50];
const LOG_POLL_MS = 10;
const NEW_LINE = 0x0a;
/** End of a request's log line. There are thousands a second, and parsing them would take processor time. */
const REQUEST_LINE_END = '"msg":"request"}';

interface ReplicaOptions {
  readonly signal: AbortSignal;
  /** Root folder of the checkout whose replica starts. */
  readonly checkout: URL;
  /** Folder in which the process may have a folder of its own. */
  readonly folder: string;
  /** Snapshot files that go live in rotation, each in the place of the last. */
  readonly snapshots: readonly string[];
  readonly keysFile: string;
  readonly credential: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** A line of Foyer's log, with the fields that the bench reads. */
interface LogLine {
  readonly level: string | number;
  readonly msg: string;
  readonly port?: number;
  readonly durationMs?: number;
}

/** A replica in its own process as an operator runs it, with every check enabled and the probe loaded. */
export class Replica extends ServerProcess {
  adminPort = 0;
  /** Load time of the live snapshot according to the log, in milliseconds. */
  loadMs = NaN;
  readonly #snapshots: readonly string[];
  readonly #snapshotDir: string;
  readonly #log: number;
  readonly #chunk = Buffer.allocUnsafe(MEGABYTE);
  #logBytesRead = 0;
  /** Log lines that were read and not yet examined, except those of requests. */
  #lines: LogLine[] = [];
  #swaps = 0;

  private constructor({ checkout, folder, snapshots, keysFile, environment, ...options }: ReplicaOptions) {
    const own = mkdtempSync(join(folder, 'replica-'));
    const [output, snapshotDir] = [join(own, 'log.ndjson'), join(own, 'snapshots')];
    mkdirSync(snapshotDir);
    super(new URL('src/main.ts', checkout), {
      ...options,
      output,
      environment: {
        HOST: '127.0.0.1',
        PORT: '0',
        ADMIN_PORT: '0',
        SNAPSHOT_DIR: snapshotDir,
        KEYS_FILE: keysFile,
        RATE_LIMIT_PER_MINUTE: UNREACHED_RATE_LIMIT,
        OVERLOAD_DELAY_MS: NEVER_OVERLOADED_MS,
        LOG_LEVEL: 'info',
        SHUTDOWN_DELAY_SECONDS: '0',
        THREADS: '1',
        ...environment,
      },
    });
    this.#snapshots = snapshots;
    this.#snapshotDir = snapshotDir;
    this.#log = openSync(output, 'r');
  }

  /** Starts a replica and waits until its first snapshot is live. */
  static async launch(options: ReplicaOptions): Promise<Replica> {
    await using onFailure = new AsyncDisposableStack();
    const replica = onFailure.use(new Replica(options));
    replica.adminPort = (await replica.#logLine('listening for operators')).port ?? 0;
    replica.port = (await replica.#logLine('listening')).port ?? 0;
    await replica.swap();
    onFailure.move();
    return replica;
  }

  /** Replaces the live snapshot by the next one, by rename, and waits until that one is live. */
  async swap(): Promise<void> {
    const next = join(this.#snapshotDir, '.next');
    linkSync(this.#snapshots[this.#swaps++ % this.#snapshots.length], next);
    renameSync(next, join(this.#snapshotDir, 'bench.sqlite'));
    this.loadMs = (await this.#logLine('snapshot live')).durationMs ?? NaN;
  }

  /** Returns the bytes of live and retained data, according to the status. */
  async heldBytes(): Promise<number> {
    const response = await fetch(`http://127.0.0.1:${this.adminPort}/status`);
    const { memory } = (await response.json()) as { memory: { heldBytes: number } };
    return memory.heldBytes;
  }

  /**
   * Waits for the next log line with a message, after the last one found.
   * @throws Refused when an error is logged before it, such as a refused snapshot
   */
  async #logLine(msg: string): Promise<LogLine> {
    for (;;) {
      const line = this.#lines.shift();
      if (line?.msg === msg) return line;
      if (line !== undefined && ERROR_LEVELS.includes(line.level))
        throw new Refused(`the replica logged an error: ${JSON.stringify(line)}`);
      if (line === undefined && !this.#readLog()) await this.waitFor(pause(LOG_POLL_MS));
    }
  }

  /** Reads further whole lines of the log. Returns whether there are any. */
  #readLog(): boolean {
    const bytes = readSync(this.#log, this.#chunk, 0, this.#chunk.length, this.#logBytesRead);
    const end = this.#chunk.subarray(0, bytes).lastIndexOf(NEW_LINE) + 1;
    this.#logBytesRead += end;
    this.#lines = this.#chunk
      .toString('utf8', 0, end)
      .split('\n')
      .filter((text) => text !== '' && !text.endsWith(REQUEST_LINE_END))
      .map((text) => JSON.parse(text) as LogLine);
    return end > 0;
  }
}
