import { fork } from 'node:child_process';
import type { ChildProcess, ForkOptions } from 'node:child_process';
import { once } from 'node:events';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Refused } from '../run-command.ts';

const MOST_SECONDS_FOR_AN_ANSWER = 180;
const GRACE_SECONDS = 5;

/**
 * A process of a bench: it answers when it is asked, once at a time, and ends with the bench, since the channel
 * between them is then closed, however the bench ended.
 */
export class Child<Answer> implements AsyncDisposable {
  readonly process: ChildProcess;
  /** Rejected when nothing is to be expected from the process any more. */
  readonly #over: Promise<never>;

  constructor(script: URL, signal: AbortSignal, args: readonly string[] = [], options: ForkOptions = {}) {
    this.process = fork(fileURLToPath(script), args, {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      ...options,
    });
    const { promise, reject } = Promise.withResolvers<never>();
    promise.catch(() => undefined);
    this.#over = promise;
    this.process.once('error', reject);
    this.process.once('exit', (code, by) => {
      reject(new Refused(`${basename(script.pathname)} ended before it was done (${by ?? code})`));
    });
    signal.throwIfAborted();
    signal.addEventListener('abort', () => {
      reject(signal.reason);
    });
  }

  async ask(): Promise<Answer> {
    this.process.send('ask');
    const [answer] = (await this.expect(once(this.process, 'message'))) as [Answer];
    return answer;
  }

  /** Waits for something that the process brings about. */
  async expect<T>(event: Promise<T>): Promise<T> {
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      late.reject(new Refused(`nothing came for ${MOST_SECONDS_FOR_AN_ANSWER} s`));
    }, MOST_SECONDS_FOR_AN_ANSWER * 1000);
    try {
      return await Promise.race([event, this.#over, late.promise]);
    } finally {
      clearTimeout(timer);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.process.pid === undefined || hasEnded(this.process)) return;
    const ended = once(this.process, 'exit');
    this.process.kill('SIGTERM');
    const late = setTimeout(() => this.process.kill('SIGKILL'), GRACE_SECONDS * 1000);
    await ended;
    clearTimeout(late);
  }
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}
