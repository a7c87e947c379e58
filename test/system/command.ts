import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';

/** Real processes in folders of their own. */

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** What every process has of the environment of the tests. What is read as it was compiled before is covered less exactly. */
export const INHERITED: Readonly<Record<string, string | undefined>> = {
  PATH: process.env['PATH'],
  NODE_V8_COVERAGE: process.env['NODE_V8_COVERAGE'],
  NODE_DISABLE_COMPILE_CACHE: process.env['NODE_V8_COVERAGE'] && '1',
};

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A process of a script of the project, with what it has written so far. */
export class Command {
  stdout = '';
  stderr = '';
  readonly ended: Promise<Ended>;
  readonly #process: ChildProcessByStdio<null, Readable, Readable>;
  #wake = Promise.withResolvers<undefined>();

  constructor(
    script: string,
    args: readonly string[],
    environment: Readonly<Record<string, string>>,
    cwd = ROOT,
  ) {
    this.#process = spawn(process.execPath, [join(ROOT, script), ...args], {
      cwd,
      env: { ...INHERITED, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#process.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.stdout += text;
      this.#changed();
    });
    this.#process.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text;
      this.#changed();
    });
    this.ended = once(this.#process, 'close').then(() => {
      this.#changed();
      const { exitCode: code, signalCode: signal } = this.#process;
      return { code, signal, stdout: this.stdout, stderr: this.stderr };
    });
  }

  /** Waits until standard output holds what `pattern` describes. */
  async says(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const found = pattern.exec(this.stdout);
      if (found) return found;
      if (this.#process.exitCode !== null) {
        throw new Error(
          `ended with ${this.#process.exitCode} before it said ${String(pattern)}:\n${this.stdout}${this.stderr}`,
        );
      }
      await this.#wake.promise;
    }
  }

  kill(signal: NodeJS.Signals): void {
    this.#process.kill(signal);
  }

  #changed(): void {
    this.#wake.resolve(undefined);
    this.#wake = Promise.withResolvers();
  }
}

/** Runs a script to its end. */
export function run(
  script: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  return new Command(script, args, environment).ended;
}
