import { setTimeout as pause } from 'node:timers/promises';
import { Refused } from '../../run-command.ts';
import { Child, type ServerProcess } from '../servers/processes.ts';
import type { Load, LoadReport } from './load-program.ts';
import type { Traffic } from './traffic.ts';

const PROGRAM = new URL('./load-program.ts', import.meta.url);
/** Enough to keep a server busy all the time, and few enough that queued requests need no memory to speak of. */
export const CONNECTIONS = 64;
/** Part of a load that is not measured. */
const WARM_UP_MS = 300;

/** The throughput of a server in a closed loop. */
export interface Peak {
  readonly perSecond: number;
  /** Processor time of the server for a request, in microseconds. */
  readonly serverMicroseconds: number;
  /** Share of the time in which the load generator was busy. */
  readonly generatorBusy: number;
}

/** A load generator in its own process. */
export class LoadGenerator extends Child {
  constructor(signal: AbortSignal) {
    super(PROGRAM, signal);
  }

  /** Returns when the load has opened its connections. */
  async start(load: Load): Promise<void> {
    await this.call({ start: load });
  }

  /** Reports on the requests since the last report or the start; the load continues. */
  report(): Promise<LoadReport> {
    return this.call('report');
  }

  /** Reports like `report`, and stops the load. */
  stop(): Promise<LoadReport> {
    return this.call('stop');
  }

  /**
   * Measures response times at a fixed rate, after a warm-up.
   * @throws Refused when requests fail, because the figure would not be that of the traffic
   */
  async measure(load: Load, seconds: number): Promise<LoadReport> {
    await this.start(load);
    await pause(WARM_UP_MS, undefined, { signal: this.signal });
    await this.report();
    await pause(seconds * 1000, undefined, { signal: this.signal });
    return checked(await this.stop(), load);
  }

  /**
   * Measures the peak throughput of a server.
   * @param options `polls` if the generator has a processor of its own; `mayRefuse` if the server may refuse requests
   * @throws Refused when other requests fail
   */
  async measurePeak(
    server: ServerProcess,
    traffic: Traffic,
    seconds: number,
    { polls = false, mayRefuse = false } = {},
  ): Promise<Peak> {
    await this.start({ ...traffic, connections: CONNECTIONS, polls });
    const { processorMs } = await server.probe();
    await pause(seconds * 1000, undefined, { signal: this.signal });
    const { arrived, perSecond, busy } = checked(await this.stop(), traffic, mayRefuse);
    const used = (await server.probe()).processorMs - processorMs;
    return { perSecond, serverMicroseconds: (used * 1000) / arrived, generatorBusy: busy };
  }
}

function checked(report: LoadReport, { targets, status }: Traffic, mayRefuse = false): LoadReport {
  const wrong = report.failed + (mayRefuse ? 0 : report.refused);
  if (wrong === 0) return report;
  throw new Refused(
    `${wrong} of ${report.due} requests such as ${targets[0].path} failed; ` +
      `their responses should have status ${status}`,
  );
}
