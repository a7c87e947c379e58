import type { Serializable } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import type { Target, Traffic } from '../load/traffic.ts';
import { Child } from './child.ts';
import type { ProbeReport } from './probe.ts';

const PROBE = new URL('./probe.ts', import.meta.url);

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
  protected portNumber = 0;

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

  /** Starts a server for comparison, which replies to its settings with its port. */
  static async start(script: URL, settings: Serializable, options: ServerOptions): Promise<ServerProcess> {
    const server = new ServerProcess(script, options);
    const initialize = async () => {
      await server.nextMessage<'ready'>();
      server.portNumber = await server.call<number>(settings);
    };
    return await server.initialized(initialize());
  }

  get port(): number {
    return this.portNumber;
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
