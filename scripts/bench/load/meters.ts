import { Refused } from '../../run-command.ts';
import { Child } from '../servers/child.ts';
import type { ProbeReport } from '../servers/probe.ts';
import type { PeakLoad, PeakReport } from './peak-load.ts';
import type { SteadyCommand, SteadyLoad, SteadyReport } from './steady-load.ts';
import type { Traffic } from './traffic.ts';

const PEAK_LOAD = new URL('./peak-load.ts', import.meta.url);
const STEADY_LOAD = new URL('./steady-load.ts', import.meta.url);

/** Enough to keep a server busy all the time, and few enough that queued requests need no memory to speak of. */
export const CONNECTIONS = 64;

/** A server with its traffic, and a probe that reports the cost of the traffic. */
export interface PeakSubject {
  readonly traffic: Traffic;
  readonly server: { probe(): Promise<ProbeReport> };
}

export interface Peak {
  readonly perSecond: number;
  /** Processor time of the server for a request, in microseconds. */
  readonly serverMicroseconds: number;
  /** Share of the time in which the load generator was busy. */
  readonly generatorBusy: number;
}

/** Measures the peak throughput of servers, one at a time, by a load generator in its own process. */
export class PeakMeter implements AsyncDisposable {
  readonly #load: Child<PeakLoad, PeakReport>;
  readonly #busyPolls: boolean;

  /** @param busyPolls whether the generator has a processor of its own, and uses all of it */
  constructor(signal: AbortSignal, busyPolls = false) {
    this.#busyPolls = busyPolls;
    this.#load = new Child(PEAK_LOAD, signal);
  }

  /**
   * @param mayFail whether failed requests are left out; otherwise they are an error
   * @throws Refused when requests fail, because the figure would not be that of the traffic
   */
  async measure({ traffic, server }: PeakSubject, seconds: number, mayFail = false): Promise<Peak> {
    const { processorMs } = await server.probe();
    const load = { ...traffic, seconds, connections: CONNECTIONS, busyPolls: this.#busyPolls };
    const report = await this.#load.call(load);
    const used = (await server.probe()).processorMs - processorMs;
    if ((report.failed > 0 && !mayFail) || report.requests === 0) {
      throw new Refused(
        `${report.failed} of ${report.failed + report.requests} requests such as ${traffic.targets[0].path} ` +
          `failed; their responses should have status ${traffic.status}`,
      );
    }
    return {
      perSecond: report.perSecond,
      serverMicroseconds: (used * 1000) / report.requests,
      generatorBusy: report.busy,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#load[Symbol.asyncDispose]();
  }
}

/** Measures response times at a fixed rate, by a load generator in its own process. */
export class SteadyMeter implements AsyncDisposable {
  readonly #load: Child<SteadyCommand, SteadyReport>;

  constructor(signal: AbortSignal) {
    this.#load = new Child(STEADY_LOAD, signal);
  }

  async start(load: SteadyLoad): Promise<void> {
    await this.#load.call({ start: load });
  }

  /** Reports on the requests since the last report or the start; the load continues. */
  report(): Promise<SteadyReport> {
    return this.#load.call('report');
  }

  /** Reports like `report`, and stops the load. */
  stop(): Promise<SteadyReport> {
    return this.#load.call('stop');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#load[Symbol.asyncDispose]();
  }
}
