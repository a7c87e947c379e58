import { type ChildProcess, fork, type ForkOptions, type Serializable } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { basename } from 'node:path';
import { Refused } from '../../run-command.ts';
import type { Target, Traffic } from '../load/traffic.ts';
import type { ProbeReport } from './probe.ts';

const EXIT_GRACE_MS = 5000;
const PROBE = new URL('./probe.ts', import.meta.url);

/**
 * A process of the bench, which replies to one call at a time. It exits with the bench, however that ends, because the
 * channel between them is closed then.
 */
export class Child implements AsyncDisposable {
  readonly #process: ChildProcess;
  /** Rejected when the process exits or the bench stops. */
  readonly #failure = Promise.withResolvers<never>();
  /** Is aborted when the bench stops. */
  protected readonly signal: AbortSignal;

  constructor(script: URL, signal: AbortSignal, options: ForkOptions = {}) {
    signal.throwIfAborted();
    this.#failure.promise.catch(() => undefined);
    this.#process = fork(script, {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      // A terminal sends Ctrl-C to the whole process group. The bench alone handles it, and ends its children.
      detached: true,
      ...options,
    });
    this.#process.once('error', this.#failure.reject);
    this.#process.once('exit', (code, by) => {
      this.#failure.reject(new Refused(`${basename(script.pathname)} exited too early (${by ?? code})`));
    });
    this.signal = signal;
    signal.addEventListener('abort', this.#abort);
  }

  async call<Reply>(message: Serializable): Promise<Reply> {
    this.#process.send(message);
    return await this.nextMessage<Reply>();
  }

  async nextMessage<Message>(): Promise<Message> {
    const [message] = (await this.waitFor(once(this.#process, 'message'))) as [Message];
    return message;
  }

  /**
   * Waits for an event that the process causes.
   * @throws Refused when the process exits, or the reason for which the bench stops
   */
  waitFor<T>(event: Promise<T>): Promise<T> {
    return Promise.race([event, this.#failure.promise]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.signal.removeEventListener('abort', this.#abort);
    const { pid, exitCode, signalCode } = this.#process;
    if (pid === undefined || exitCode !== null || signalCode !== null) return;
    const exited = once(this.#process, 'exit');
    this.#process.disconnect();
    const timer = setTimeout(() => this.#process.kill('SIGKILL'), EXIT_GRACE_MS);
    await exited;
    clearTimeout(timer);
  }

  readonly #abort = () => {
    this.#failure.reject(this.signal.reason);
  };
}

export interface ServerOptions {
  readonly signal: AbortSignal;
  readonly credential: string;
  /** File for standard output. Reading a pipe would take processor time from the measurement. */
  readonly output: string;
  /** Environment variables other than PATH and NODE_ENV. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** A server under test in its own process, with the probe loaded. */
export class ServerProcess extends Child {
  readonly credential: string;
  port = 0;

  constructor(script: URL, { signal, credential, output, environment = {} }: ServerOptions) {
    const file = openSync(output, 'a');
    super(script, signal, {
      execArgv: ['--import', PROBE.href],
      env: { PATH: process.env['PATH'], NODE_ENV: 'production', ...environment },
      stdio: ['ignore', file, 'inherit', 'ipc'],
    });
    closeSync(file);
    this.credential = credential;
  }

  /** Returns traffic to this server, by default with 200 as the expected status. */
  traffic(targets: readonly Target[], status = 200): Traffic {
    return { port: this.port, credential: this.credential, targets, status };
  }

  /** Returns the measurements of the probe since the last report. */
  probe(): Promise<ProbeReport> {
    return this.call('report');
  }
}
