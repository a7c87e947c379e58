import { mkdirSync } from 'node:fs';
import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { formatCredential } from '../../src/keys/credential.ts';
import { KeysFile } from '../../src/keys/keys-file.ts';
import { Command, type CommandOptions, type Ended } from './command.ts';
import { build } from './import-folder.ts';
import type { InFolder } from './temporary-folder.ts';

/** A parsed log line. */
export type LogLine = Readonly<Record<string, unknown>>;

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export type Environment = Readonly<Record<string, string>>;

/** The environment of a replica over the snapshots and keys of a folder, on free ports. */
export const environmentIn = (inFolder: InFolder) => ({
  PORT: '0',
  ADMIN_PORT: '0',
  HOST: '127.0.0.1',
  SNAPSHOT_DIR: inFolder('snapshots'),
  KEYS_FILE: inFolder('keys.sqlite'),
  // No proxy has to notice that the replica stops.
  SHUTDOWN_DELAY_SECONDS: '0',
});

/** A replica in its own process, with the folder `snapshots` and the keys file `keys.sqlite`. */
export class ReplicaUnderTest implements AsyncDisposable {
  /** The log lines so far, except those of requests. */
  readonly log: LogLine[] = [];
  readonly #command: Command;
  readonly #agent = new Agent({ keepAlive: true });
  #origin = '';
  #adminOrigin = '';

  private constructor(inFolder: InFolder, environment: Environment, options: CommandOptions) {
    const all = {
      ...environmentIn(inFolder),
      SNAPSHOT_POLL_SECONDS: '0.05',
      THREADS: '1',
      // Disabled, since they would refuse requests of these tests on a busy machine.
      RATE_LIMIT_PER_MINUTE: '0',
      OVERLOAD_DELAY_MS: '0',
      ...environment,
    };
    this.#command = new Command('src/main.ts', [], all, options);
    createInterface({ input: this.#command.output }).on('line', (line) => {
      const entry = parseLine(line);
      if (entry['msg'] !== 'request') this.log.push(entry);
    });
  }

  /** Starts a replica. Creates the snapshot folder if it is absent. */
  static async start(
    inFolder: InFolder,
    environment: Environment = {},
    options: CommandOptions = {},
  ): Promise<ReplicaUnderTest> {
    mkdirSync(inFolder('snapshots'), { recursive: true });
    const replica = new ReplicaUnderTest(inFolder, environment, options);
    const [api, admin] = await Promise.all([
      replica.waitForLog({ msg: 'listening' }),
      replica.waitForLog({ msg: 'listening for operators' }),
    ]);
    replica.#origin = `http://127.0.0.1:${String(api['port'])}`;
    replica.#adminOrigin = `http://127.0.0.1:${String(admin['port'])}`;
    return replica;
  }

  /** Starts a replica with a snapshot and keys in its folder, and waits until both are live. */
  static async startReady(...given: Parameters<typeof ReplicaUnderTest.start>): Promise<ReplicaUnderTest> {
    const replica = await ReplicaUnderTest.start(...given);
    await replica.waitForLog({ msg: 'keys live' });
    await replica.waitForLog({ msg: 'snapshot live' });
    return replica;
  }

  /** Returns the log lines with these values, starting at line `from`. */
  linesOf(values: LogLine, from = 0): LogLine[] {
    return this.log
      .slice(from)
      .filter((line) => Object.entries(values).every(([name, value]) => line[name] === value));
  }

  /** Waits for a log line with these values, starting at line `from`. */
  async waitForLog(values: LogLine, from = 0): Promise<LogLine> {
    for (;;) {
      const line = this.linesOf(values, from).at(0);
      if (line !== undefined) return line;
      if (!this.isRunning) {
        throw new Error(
          `the replica ended without log line ${JSON.stringify(values)}: ${JSON.stringify(this.log, undefined, 1)}${this.#command.stderr}`,
        );
      }
      await this.#command.change;
    }
  }

  get isRunning(): boolean {
    return this.#command.isRunning;
  }

  /** Fulfilled when the process ends. */
  get ended(): Promise<Ended> {
    return this.#command.ended;
  }

  /** Standard output so far. */
  get stdout(): string {
    return this.#command.stdout;
  }

  /** Sends a request to the API over a keep-alive connection. */
  request(
    path: string,
    credential: string,
    headers: Readonly<Record<string, string>> = {},
    agent: Agent | false = this.#agent,
  ): Promise<Answer> {
    // The link to the next page is an absolute URL.
    const url = URL.canParse(path) ? path : this.#origin + path;
    return this.#get(url, { Authorization: `Bearer ${credential}`, ...headers }, agent);
  }

  get origin(): string {
    return this.#origin;
  }

  get port(): number {
    return Number(new URL(this.#origin).port);
  }

  get adminPort(): number {
    return Number(new URL(this.#adminOrigin).port);
  }

  /** Sends a request to the admin port. */
  requestAdmin(path: string): Promise<Answer> {
    return this.#get(this.#adminOrigin + path, {});
  }

  /** Requests the status. The caller declares the fields that it reads. */
  async status<Fields>(): Promise<Fields> {
    return JSON.parse((await this.requestAdmin('/status')).text) as Fields;
  }

  /** Requests the value of a metric: of one sample, or without labels, the sum of all. NaN when it is absent. */
  async metric(name: string): Promise<number> {
    return metricIn((await this.requestAdmin('/metrics')).text, name);
  }

  /**
   * Waits until a metric has a value. A request is counted when its response is closed, which may be after the client has
   * read it.
   */
  async waitForMetric(name: string, value: number): Promise<void> {
    while ((await this.metric(name)) !== value) await delay(10);
  }

  async #get(
    url: string,
    headers: Readonly<Record<string, string>>,
    agent: Agent | false = this.#agent,
  ): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const sent = request(url, { agent, headers }, (response) => {
      text(response).then((body) => {
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text: body });
      }, reject);
    });
    sent.on('error', (error: NodeJS.ErrnoException) => {
      // The replica may close an idle connection while a request is on its way. A test with an agent of its own observes
      // its connections.
      const isClosedIdle =
        agent === this.#agent && sent.reusedSocket && error.code === 'ECONNRESET' && this.isRunning;
      if (isClosedIdle) resolve(this.#get(url, headers, agent));
      else reject(error);
    });
    sent.end();
    return promise;
  }

  signal(name: NodeJS.Signals): void {
    this.#command.kill(name);
  }

  /** Ends the replica in any state. */
  async end(): Promise<void> {
    this.#agent.destroy();
    // Unlike SIGTERM, it does not wait for late requests.
    this.#command.kill('SIGINT');
    await this.#command.ended;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.end();
  }
}

/** Returns the value of a metric in an exposition, as `ReplicaUnderTest.metric` does. */
export function metricIn(exposition: string, name: string): number {
  const samples = exposition
    .split('\n')
    .filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`))
    .map((line) => Number(line.slice(line.lastIndexOf(' '))));
  return samples.length === 0 ? NaN : samples.reduce((sum, value) => sum + value);
}

/** Parses a log line. A line that is not JSON becomes the message. */
function parseLine(line: string): LogLine {
  try {
    return JSON.parse(line) as LogLine;
  } catch {
    return { msg: line };
  }
}

/** Creates a key for an organization in the folder's keys file. Returns its credential. */
export function newCredential(inFolder: InFolder, organizationId: string): string {
  return formatCredential(new KeysFile(inFolder('keys.sqlite')).create(organizationId, '', new Date()));
}

export const SAMPLE_ORGANIZATION = 'theatre-des-trois-ponts';

/** Builds the snapshot of data/sample in the snapshot folder. Returns a credential of its first organization. */
export async function placeSample(inFolder: InFolder): Promise<string> {
  mkdirSync(inFolder('snapshots'), { recursive: true });
  await build('data/sample', inFolder('snapshots/sample.sqlite'));
  return newCredential(inFolder, SAMPLE_ORGANIZATION);
}
