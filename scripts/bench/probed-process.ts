import { closeSync, openSync } from 'node:fs';
import { Child } from './child.ts';
import type { ProbeAnswer } from './probe.ts';

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
