import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { createInterface, type Interface } from 'node:readline';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { INHERITED, ROOT } from '../support/command.ts';
import type { Outcome } from './load-each.ts';

/** A process that runs `load-each.ts`. */
export class LoaderProcess {
  readonly #process: ChildProcessByStdio<Writable, Readable, null>;
  readonly #lines: AsyncIterator<string>;

  constructor() {
    this.#process = spawn(process.execPath, [join(ROOT, 'test/resilience/load-each.ts')], {
      env: INHERITED,
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const lines: Interface = createInterface({ input: this.#process.stdout });
    this.#lines = lines[Symbol.asyncIterator]();
  }

  /** Loads a file. Rejects when the process has ended. */
  async load(path: string): Promise<Outcome> {
    this.#process.stdin.write(`${path}\n`);
    const line = await this.#lines.next();
    if (line.done === true) throw new Error(`the process ended: ${String(this.#process.signalCode)}`);
    return JSON.parse(line.value) as Outcome;
  }

  end(): void {
    this.#process.kill('SIGKILL');
  }
}
