import { type ChildProcess, fork, type ForkOptions, type Serializable } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Refused } from '../../run-command.ts';
import type { ProbeAnswer } from './probe.ts';

const MOST_SECONDS_FOR_AN_ANSWER = 600;
const GRACE_SECONDS = 5;

/**
 * A process of a bench: it answers when it is asked, one question at a time, and ends with the bench, since the
 * channel between them is then closed, however the bench ended.
 */
export class Child<ResolvedQuery extends Serializable, Answer> implements AsyncDisposable {
  readonly process: ChildProcess;
  readonly #over = new AbortController();
  readonly #bench: AbortSignal;

  constructor(script: URL, signal: AbortSignal, args: readonly string[] = [], options: ForkOptions = {}) {
    signal.throwIfAborted();
    this.process = fork(fileURLToPath(script), args, {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      // What a terminal sends to all of a group, such as Ctrl-C, is for the bench to heed: it ends the others.
      detached: true,
      ...options,
    });
    this.process.once('error', this.#end);
    this.process.once('exit', (code, by) => {
      this.#end(new Refused(`${basename(script.pathname)} ended before it was done (${by ?? code})`));
    });
    this.#bench = signal;
    signal.addEventListener('abort', this.#stop);
  }

  /** Aborted, with the reason, when nothing is to be expected from the process any more. */
  get over(): AbortSignal {
    return this.#over.signal;
  }

  async ask(question: ResolvedQuery): Promise<Answer> {
    this.process.send(question);
    return await this.hear<Answer>();
  }

  /** Waits for the next message. */
  async hear<Message>(): Promise<Message> {
    const [message] = (await this.expect(once(this.process, 'message'))) as [Message];
    return message;
  }

  /** Waits for something that the process brings about. */
  async expect<T>(event: Promise<T>): Promise<T> {
    const { promise, reject } = Promise.withResolvers<never>();
    const refuse = () => {
      reject(this.over.reason);
    };
    const timer = setTimeout(() => {
      reject(new Refused(`nothing came for ${MOST_SECONDS_FOR_AN_ANSWER} s`));
    }, MOST_SECONDS_FOR_AN_ANSWER * 1000);
    if (this.over.aborted) refuse();
    else this.over.addEventListener('abort', refuse);
    try {
      return await Promise.race([event, promise]);
    } finally {
      clearTimeout(timer);
      this.over.removeEventListener('abort', refuse);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#bench.removeEventListener('abort', this.#stop);
    if (this.process.pid === undefined || hasEnded(this.process)) return;
    const ended = once(this.process, 'exit');
    this.process.kill('SIGTERM');
    const late = setTimeout(() => this.process.kill('SIGKILL'), GRACE_SECONDS * 1000);
    await ended;
    clearTimeout(late);
  }

  readonly #end = (reason: unknown) => {
    this.#over.abort(reason);
  };

  readonly #stop = () => {
    this.#end(this.#bench.reason);
  };
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

const PROBE = new URL('./probe.ts', import.meta.url);

interface ProbedOptions {
  readonly args?: readonly string[];
  /** Beside those without which no process runs. */
  readonly environment?: Readonly<Record<string, string>>;
  /** File that its standard output goes to. To read it by a pipe would take time from what is measured. */
  readonly output: string;
}

/** A server under test, in its own process, with a probe inside. */
export class ProbedProcess extends Child<'ask', ProbeAnswer> {
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

  /** What the probe saw since it was asked before. */
  probe(): Promise<ProbeAnswer> {
    return this.ask('ask');
  }
}
