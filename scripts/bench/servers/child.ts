import { type ChildProcess, fork, type ForkOptions, type Serializable } from 'node:child_process';
import { once } from 'node:events';
import { basename } from 'node:path';
import { Refused } from '../../run-command.ts';

const EXIT_GRACE_MS = 5000;

/**
 * A process of the bench, which replies to one call at a time. It exits with the bench, however that ends, because the
 * channel between them is closed then.
 */
export class Child implements AsyncDisposable {
  readonly #process: ChildProcess;
  /** Rejected when the process exits or the bench stops. */
  readonly #failure = Promise.withResolvers<never>();
  readonly #signal: AbortSignal;

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
    this.#signal = signal;
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

  /** Ends the process if its initialization fails. */
  protected async initialized(initialization: Promise<void>): Promise<this> {
    try {
      await initialization;
      return this;
    } catch (error) {
      await this[Symbol.asyncDispose]();
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#signal.removeEventListener('abort', this.#abort);
    const { pid, exitCode, signalCode } = this.#process;
    if (pid === undefined || exitCode !== null || signalCode !== null) return;
    const exited = once(this.#process, 'exit');
    this.#process.disconnect();
    const timer = setTimeout(() => this.#process.kill('SIGKILL'), EXIT_GRACE_MS);
    await exited;
    clearTimeout(timer);
  }

  readonly #abort = () => {
    this.#failure.reject(this.#signal.reason);
  };
}
