import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { INHERITED, ROOT } from './command.ts';

/** Kinds of standard output that have a reader. */
export type ReadOutput = 'pipe' | 'non-blocking pipe' | 'socket' | 'terminal';

/** Ctrl-S and Ctrl-Q: a terminal suspends its output, and resumes it. */
const STOP = '\x13';
const CONTINUE = '\x11';

/** Reads a stream of lines. */
export class LineReader {
  /** The text read so far. */
  text = '';
  /** Fulfilled when the stream is closed. */
  readonly ended: Promise<unknown>;
  protected readonly stream: Readable;
  #wake = Promise.withResolvers<undefined>();

  constructor(stream: Readable) {
    this.stream = stream;
    this.ended = once(stream, 'close');
    stream.setEncoding('utf8').on('data', (text: string) => {
      this.text += text;
      this.#wake.resolve(undefined);
      this.#wake = Promise.withResolvers();
    });
  }

  /** Waits for a line that matches. */
  async reads(pattern: RegExp): Promise<RegExpExecArray> {
    for (let from = 0; ;) {
      const found = pattern.exec(this.text.slice(from));
      if (found) return found;
      from = this.text.lastIndexOf('\n') + 1;
      await this.#wake.promise;
    }
  }

  /** Stops reading for good. */
  async close(): Promise<void> {
    this.stream.destroy();
    await this.ended;
  }
}

/** Runs a script in a process, and reads its standard output with stalls on demand. */
export class StallingReader extends LineReader {
  readonly process: ChildProcess;
  readonly #output: ReadOutput;

  private constructor(output: ReadOutput, process: ChildProcess, stream: Readable) {
    super(stream);
    this.#output = output;
    this.process = process;
  }

  /**
   * @param path of the named pipe to create
   * @param standardError a descriptor, or a new pipe
   */
  static start(
    output: ReadOutput,
    script: string,
    path: string,
    environment: Readonly<Record<string, string>> = {},
    standardError: number | 'pipe' = 'pipe',
  ): StallingReader {
    const command = [process.execPath, join(ROOT, script)];
    const options = { cwd: ROOT, env: { ...INHERITED, ...environment } };
    if (output === 'socket' || output === 'terminal') {
      const [file, ...args] = output === 'socket' ? command : inTerminal(command);
      // Node implements 'pipe' as a pair of sockets.
      const child = spawn(file, args, { ...options, stdio: ['pipe', 'pipe', standardError, 'ipc'] });
      if (child.stdout === null) throw new Error('the process has no output');
      return new StallingReader(output, child, child.stdout);
    }
    execFileSync('mkfifo', [path]);
    const reading = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const writing = openSync(path, 'w');
    const [file, ...args] = command;
    const child = spawn(file, args, { ...options, stdio: ['pipe', writing, standardError, 'ipc'] });
    // A libuv handle makes the file description non-blocking for all processes that share it.
    if (output === 'pipe') closeSync(writing);
    else new Socket({ fd: writing, readable: false, writable: true }).destroy();
    return new StallingReader(output, child, new Socket({ fd: reading, writable: false }));
  }

  /**
   * Suspends reading. A terminal does it by Ctrl-S and a newline, and the process must send a message when it receives
   * the line.
   */
  async stall(): Promise<void> {
    if (this.#output === 'terminal') {
      this.process.stdin?.write(`${STOP}\n`);
      await once(this.process, 'message');
    } else this.stream.pause();
  }

  resume(): void {
    if (this.#output === 'terminal') this.process.stdin?.write(CONTINUE);
    else this.stream.resume();
  }
}

/** Creates a named pipe that is full, and that no process reads. Returns its descriptor for writing. */
export function fullPipe(path: string): number {
  execFileSync('mkfifo', [path]);
  const pipe = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  try {
    for (;;) writeSync(pipe, 'x'.repeat(4096));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) throw error;
  }
  return pipe;
}

function inTerminal(command: readonly string[]): string[] {
  const line = `stty -echo && exec ${command.map((word) => `'${word}'`).join(' ')}`;
  return ['script', '--quiet', '--return', '--flush', '--command', line, '/dev/null'];
}
