import { type ChildProcess, fork, type ForkOptions, type Serializable } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Refused } from '../../run-command.ts';
import type { ProbeReport } from './probe.ts';

const REPLY_TIMEOUT_SECONDS = 600;
const EXIT_GRACE_SECONDS = 5;
const PROBE = new URL('./probe.ts', import.meta.url);

/**
 * A process of the bench. It replies to one call at a time. It exits with the bench, however that ends, because the channel between
 * them is closed then.
 */
export class Child<Call extends Serializable, Reply> implements AsyncDisposable {
  readonly process: ChildProcess;
  readonly #ended = new AbortController();
  readonly #benchSignal: AbortSignal;

  constructor(script: URL, signal: AbortSignal, args: readonly string[] = [], options: ForkOptions = {}) {
    signal.throwIfAborted();
    this.process = fork(fileURLToPath(script), args, {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      // A terminal sends a signal such as Ctrl-C to the whole process group. The bench alone handles it, and ends its children.
      detached: true,
      ...options,
    });
    this.process.once('error', this.#end);
    this.process.once('exit', (code, by) => {
      this.#end(new Refused(`${basename(script.pathname)} exited too early (${by ?? code})`));
    });
    this.#benchSignal = signal;
    signal.addEventListener('abort', this.#stop);
  }

  /** Aborted, with the reason, when the process has exited or the bench stops. */
  get ended(): AbortSignal {
    return this.#ended.signal;
  }

  async call(message: Call): Promise<Reply> {
    this.process.send(message);
    return await this.nextMessage<Reply>();
  }

  async nextMessage<Message>(): Promise<Message> {
    const [message] = (await this.waitFor(once(this.process, 'message'))) as [Message];
    return message;
  }

  /**
   * Waits for an event that the process causes.
   * @throws the reason of `ended`, or Refused after the timeout
   */
  async waitFor<T>(event: Promise<T>): Promise<T> {
    const { promise, reject } = Promise.withResolvers<never>();
    const onEnd = () => {
      reject(this.ended.reason);
    };
    const timer = setTimeout(() => {
      reject(new Refused(`a process of the bench did not reply for ${REPLY_TIMEOUT_SECONDS} s`));
    }, REPLY_TIMEOUT_SECONDS * 1000);
    if (this.ended.aborted) onEnd();
    else this.ended.addEventListener('abort', onEnd);
    try {
      return await Promise.race([event, promise]);
    } finally {
      clearTimeout(timer);
      this.ended.removeEventListener('abort', onEnd);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#benchSignal.removeEventListener('abort', this.#stop);
    if (this.process.pid === undefined || hasExited(this.process)) return;
    const exited = once(this.process, 'exit');
    this.process.kill('SIGTERM');
    const timer = setTimeout(() => this.process.kill('SIGKILL'), EXIT_GRACE_SECONDS * 1000);
    await exited;
    clearTimeout(timer);
  }

  readonly #end = (reason: unknown) => {
    this.#ended.abort(reason);
  };

  readonly #stop = () => {
    this.#end(this.#benchSignal.reason);
  };
}

interface ProbedOptions {
  readonly args?: readonly string[];
  /** Environment variables other than PATH and NODE_ENV. */
  readonly environment?: Readonly<Record<string, string>>;
  /** File for standard output. Reading a pipe would take processor time from the measurement. */
  readonly output: string;
}

/** A server under test in its own process, with the probe loaded. */
export class ProbedProcess extends Child<'report', ProbeReport> {
  constructor(script: URL, signal: AbortSignal, { args = [], environment = {}, output }: ProbedOptions) {
    const file = openSync(output, 'a');
    try {
      super(script, signal, args, {
        execArgv: ['--import', PROBE.href],
        env: { PATH: process.env['PATH'], NODE_ENV: 'production', ...environment },
        stdio: ['ignore', file, 'inherit', 'ipc'],
      });
    } finally {
      closeSync(file);
    }
  }

  /** Returns the measurements of the probe since the last report. */
  probe(): Promise<ProbeReport> {
    return this.call('report');
  }
}

function hasExited({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}
