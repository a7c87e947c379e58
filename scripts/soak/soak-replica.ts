import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { Agent, get, type IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { THREAD_HEADER } from '../../test/system/mortal-thread.ts';
import { Refused } from '../run-command.ts';

export const THREADS = 2;
export const POLL_SECONDS = 0.5;
/** Ends a request, or the wait for a log line, which takes milliseconds on a machine that is not busy. */
const TIMEOUT_MS = 30_000;
/** End of a request's log line. There are too many to parse each. */
const REQUEST_LINE_END = '"msg":"request"}';
/** pino's number for `warn`. */
const WARNING = 40;

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

interface LogLine {
  readonly level: number;
  readonly msg: string;
  readonly [field: string]: unknown;
}

/** Memory in bytes, and the number of open descriptors. */
export interface Usage {
  readonly residentBytes: number;
  /** Of the main thread. */
  readonly heapBytes: number;
  /** Without those of connections to the API. */
  readonly descriptors: number;
}

/** A replica in its own process, with two workers that a request header can end. */
export class SoakReplica {
  readonly snapshotDir: string;
  readonly keysFile: string;
  #port = 0;
  #adminPort = 0;
  /** Receives the warnings and errors of the log. */
  readonly #onWarning: (line: LogLine) => void;
  readonly #process: ChildProcess;
  readonly #ended: Promise<unknown>;
  readonly #awaited = new Set<(line: LogLine) => void>();
  #standardError = '';
  /** The workers that were ended, by the ids of their threads. */
  readonly #endedThreads = new Set<string>();
  /** Times of the monotonic clock: when a worker was last ended, and when its replacement listened. */
  #endedAt = -Infinity;
  #replacedAt = -Infinity;

  private constructor(folder: string, onWarning: (line: LogLine) => void) {
    this.snapshotDir = join(folder, 'snapshots');
    this.keysFile = join(folder, 'keys.sqlite');
    this.#onWarning = onWarning;
    mkdirSync(this.snapshotDir);
    const mortalThread = new URL('../../test/system/mortal-thread.ts', import.meta.url);
    this.#process = spawn(process.execPath, [fileURLToPath(new URL('../../src/main.ts', import.meta.url))], {
      env: {
        PATH: process.env['PATH'],
        NODE_OPTIONS: `--import=${mortalThread.href}`,
        HOST: '127.0.0.1',
        PORT: '0',
        ADMIN_PORT: '0',
        SNAPSHOT_DIR: this.snapshotDir,
        KEYS_FILE: this.keysFile,
        SNAPSHOT_POLL_SECONDS: String(POLL_SECONDS),
        THREADS: String(THREADS),
        // Disabled: a request that is refused for the load of the machine would look like a fault.
        RATE_LIMIT_PER_MINUTE: '0',
        OVERLOAD_DELAY_MS: '0',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
      // A terminal sends Ctrl-C to the whole process group. The soak alone handles it.
      detached: true,
    });
    this.#ended = once(this.#process, 'exit');
    const { stdout, stderr } = this.#process;
    if (stdout === null || stderr === null) throw new TypeError('the replica has no output');
    createInterface({ input: stdout }).on('line', (line) => {
      if (!line.endsWith(REQUEST_LINE_END)) this.#receive(JSON.parse(line) as LogLine);
    });
    stderr.setEncoding('utf8').on('data', (part: string) => (this.#standardError += part));
  }

  /** Starts a replica with a folder of its own. */
  static async start(folder: string, onWarning: (line: LogLine) => void): Promise<SoakReplica> {
    const replica = new SoakReplica(folder, onWarning);
    const [api, admin] = await Promise.all([
      replica.logLine('listening'),
      replica.logLine('listening for operators'),
    ]);
    replica.#port = Number(api['port']);
    replica.#adminPort = Number(admin['port']);
    return replica;
  }

  get port(): number {
    return this.#port;
  }

  /**
   * Waits for the next line with a message and, if given, the value of a field.
   * @throws Refused after the timeout, or when the process ends
   */
  async logLine(msg: string, field = 'msg', value: string | number = msg): Promise<LogLine> {
    const { promise, resolve, reject } = Promise.withResolvers<LogLine>();
    const receive = (line: LogLine) => {
      if (line.msg === msg && line[field] === value) resolve(line);
    };
    const fail = (what: string) => {
      reject(
        new Refused(`${what} without the log line "${msg}" with ${field} ${value}: ${this.#standardError}`),
      );
    };
    const timer = setTimeout(fail, TIMEOUT_MS, 'the replica ran on');
    void this.#ended.then(() => {
      fail('the replica ended');
    });
    this.#awaited.add(receive);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#awaited.delete(receive);
    }
  }

  /**
   * Sends a request to the API.
   * @param target path and query, or the URL of a next page
   */
  request(target: string, agent: Agent | false, headers: Readonly<Record<string, string>>): Promise<Answer> {
    const base = `http://127.0.0.1:${this.port}`;
    return ask(new URL(target, base), agent, headers);
  }

  requestAdmin(path: string): Promise<Answer> {
    return ask(new URL(path, `http://127.0.0.1:${this.#adminPort}`), false, {});
  }

  /** Ends one worker by a request, in the manner that the header names. Fulfilled when another one listens. */
  async endWorker(headers: Readonly<Record<string, string>>): Promise<void> {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    try {
      const thread = threadOf(await this.request('/healthz', agent, {}));
      this.#endedAt = performance.now();
      this.#endedThreads.add(thread);
      const replaced = this.logLine('the new worker listens');
      await this.request('/healthz', agent, headers).catch(() => undefined);
      await replaced;
      this.#replacedAt = performance.now();
    } finally {
      agent.destroy();
    }
  }

  /**
   * Returns whether a connection was lost with its worker.
   * @param thread of the latest response on it; undefined when there was none
   * @param since time of the request
   */
  isLost(thread: string | undefined, since: number): boolean {
    if (thread !== undefined) return this.#endedThreads.has(thread);
    return this.#replacedAt < this.#endedAt || this.#replacedAt >= since;
  }

  /** Returns the value of a metric without labels. */
  async metric(name: string): Promise<number> {
    const { text: metrics } = await this.requestAdmin('/metrics');
    return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(metrics)?.[1]);
  }

  async usage(): Promise<Usage> {
    const folder = `/proc/${String(this.#process.pid)}`;
    const resident = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(join(folder, 'status'), 'utf8'))?.[1];
    return {
      residentBytes: Number(resident) * 1024,
      heapBytes: await this.metric('nodejs_heap_size_used_bytes'),
      descriptors: readdirSync(join(folder, 'fd')).length - (await this.metric('foyer_connections_open')),
    };
  }

  signal(name: NodeJS.Signals): void {
    this.#process.kill(name);
  }

  /** Stops the process. Returns its exit status and standard error. */
  async stop(): Promise<{ readonly code: number | null; readonly standardError: string }> {
    this.signal('SIGTERM');
    await this.#ended;
    return { code: this.#process.exitCode, standardError: this.#standardError };
  }

  #receive(line: LogLine): void {
    if (line.level >= WARNING) this.#onWarning(line);
    for (const receive of this.#awaited) receive(line);
  }
}

/** Returns the thread of the worker that sent a response. */
export function threadOf({ headers }: Answer): string {
  return String(headers[THREAD_HEADER]);
}

function ask(url: URL, agent: Agent | false, headers: Readonly<Record<string, string>>): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  get(url, { agent, headers, signal: AbortSignal.timeout(TIMEOUT_MS) }, (response) => {
    text(response).then((body) => {
      resolve({ status: response.statusCode ?? 0, headers: response.headers, text: body });
    }, reject);
  }).on('error', reject);
  return promise;
}
