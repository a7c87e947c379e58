import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';

/** Commands of the project, in processes of their own or in this one. */

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/**
 * The environment that every process inherits, with the compile cache of the npm scripts. Coverage variables are
 * excluded: only mocha's processes are measured.
 */
export const INHERITED: Readonly<Record<string, string | undefined>> = {
  PATH: process.env['PATH'],
  NODE_COMPILE_CACHE: join(ROOT, 'node_modules/.cache/compiled'),
};

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CommandOptions {
  readonly cwd?: string;
  /** A command that runs in place of the script, such as the script in a container. */
  readonly command?: readonly string[] | undefined;
  /** Limit of open files; by default that of this process. */
  readonly openFiles?: number | undefined;
  /** Limit of the size of files, in blocks of 512 bytes. Further writes fail as on a full disk. */
  readonly fileBlocks?: number;
}

/** Length of an output beyond which only its end is kept. */
const MAX_OUTPUT = 100_000_000;

/** A process that runs a script of the project, with its output so far. */
export class Command {
  stdout = '';
  stderr = '';
  readonly ended: Promise<Ended>;
  readonly #process: ChildProcessByStdio<null, Readable, Readable>;
  #change = Promise.withResolvers<undefined>();

  constructor(
    script: string,
    args: readonly string[],
    environment: Readonly<Record<string, string>>,
    {
      cwd = ROOT,
      command = [process.execPath, join(ROOT, script), ...args],
      openFiles,
      fileBlocks,
    }: CommandOptions = {},
  ) {
    const limits = [
      openFiles === undefined ? '' : `ulimit -n ${openFiles};`,
      // Files that Node writes of itself would not fit either.
      fileBlocks === undefined ? '' : `unset NODE_COMPILE_CACHE NODE_V8_COVERAGE; ulimit -f ${fileBlocks};`,
    ];
    this.#process = spawn('sh', ['-c', `${limits.join('')} exec "$0" "$@"`, ...command], {
      cwd,
      env: { ...INHERITED, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const name of ['stdout', 'stderr'] as const) {
      this.#process[name].setEncoding('utf8').on('data', (text: string) => {
        // A string has at most some 500 MB.
        if (this[name].length > MAX_OUTPUT) this[name] = this[name].slice(-MAX_OUTPUT / 2);
        this[name] += text;
        this.#wake();
      });
    }
    this.ended = once(this.#process, 'close').then(() => {
      this.#wake();
      const { exitCode: code, signalCode: signal } = this.#process;
      return { code, signal, stdout: this.stdout, stderr: this.stderr };
    });
  }

  /** Waits until standard output matches. */
  async waitForOutput(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const found = pattern.exec(this.stdout);
      if (found) return found;
      if (!this.isRunning) {
        throw new Error(
          `exit status ${String(this.#process.exitCode)} without output ${String(pattern)}:\n${this.stdout}${this.stderr}`,
        );
      }
      await this.change;
    }
  }

  /** Fulfilled at the next output, or at the end of the process. */
  get change(): Promise<unknown> {
    return this.#change.promise;
  }

  /** Standard output, for further readers. */
  get output(): Readable {
    return this.#process.stdout;
  }

  get isRunning(): boolean {
    const { exitCode, signalCode } = this.#process;
    return exitCode === null && signalCode === null;
  }

  kill(signal: NodeJS.Signals): void {
    this.#process.kill(signal);
  }

  #wake(): void {
    this.#change.resolve(undefined);
    this.#change = Promise.withResolvers();
  }
}

/** Runs a script to its end, in a process of its own. */
export function run(
  script: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  return new Command(script, args, environment).ended;
}

/** The exported entry point of a command. Returns the exit status. */
type Main = (argv: readonly string[]) => Promise<number>;

/** Runs a command to its end in this process. */
export async function runHere(
  main: Main,
  argv: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Omit<Ended, 'signal'>> {
  const stdout = captureOutput(process.stdout);
  const stderr = captureOutput(process.stderr);
  const { env } = process;
  process.env = { ...INHERITED, ...environment };
  try {
    const code = await main(argv);
    return { code, stdout: stdout.text, stderr: stderr.text };
  } finally {
    process.env = env;
    stdout.release();
    stderr.release();
  }
}

/** Captures the text written to a stream, until its release. */
function captureOutput(stream: NodeJS.WriteStream): { readonly text: string; readonly release: () => void } {
  const write = stream.write.bind(stream);
  const captured = { text: '', release: () => void (stream.write = write) };
  stream.write = (chunk: string | Uint8Array) => {
    captured.text += String(chunk);
    return true;
  };
  return captured;
}
