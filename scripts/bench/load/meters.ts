import { Refused } from '../../run-command.ts';
import { Child } from '../servers/child.ts';
import type { ProbeAnswer } from '../servers/probe.ts';
import type { PeakAnswer, PeakLoad } from './peak-load.ts';
import type { SteadyAnswer, SteadyLoad, SteadyOrder } from './steady-load.ts';
import type { Traffic } from './traffic.ts';

const PEAK_LOAD = new URL('./peak-load.ts', import.meta.url);

/** Enough that a server always has something to do, few enough that a wait in line is no matter of memory. */
export const CONNECTIONS = 64;

/** A server that can be asked as fast as it answers, and of what that cost it. */
export interface PeakSubject {
  readonly traffic: Traffic;
  readonly server: { probe(): Promise<ProbeAnswer> };
}

export interface Peak {
  readonly perSecond: number;
  /** Processor time of the server for a request, in microseconds. */
  readonly serverMicroseconds: number;
  /** Share of the time in which those who asked had something to do. */
  readonly generatorBusy: number;
}

/** Asks servers, one at a time, as fast as they answer, from a process of its own. */
export class PeakMeter implements AsyncDisposable {
  readonly #load: Child<PeakLoad, PeakAnswer>;
  readonly #staysAwake: boolean;

  /** @param staysAwake whether those who ask have a processor of their own, and use it all */
  constructor(signal: AbortSignal, staysAwake = false) {
    this.#staysAwake = staysAwake;
    this.#load = new Child(PEAK_LOAD, signal);
  }

  /**
   * @param mayRefuse requests that are not answered as they should do not count; when absent, they must not be
   * @throws Refused when requests fail: what is measured then is something else
   */
  async measure({ traffic, server }: PeakSubject, seconds: number, mayRefuse = false): Promise<Peak> {
    const { processorMs } = await server.probe();
    const load = { ...traffic, seconds, connections: CONNECTIONS, staysAwake: this.#staysAwake };
    const answer = await this.#load.ask(load);
    const used = (await server.probe()).processorMs - processorMs;
    if ((answer.failed > 0 && !mayRefuse) || answer.requests === 0) {
      throw new Refused(
        `${answer.failed} of ${answer.failed + answer.requests} requests such as ${traffic.targets[0].path} ` +
          `were not answered with ${traffic.status}`,
      );
    }
    return {
      perSecond: answer.perSecond,
      serverMicroseconds: (used * 1000) / answer.requests,
      generatorBusy: answer.busy,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#load[Symbol.asyncDispose]();
  }
}

const STEADY_LOAD = new URL('./steady-load.ts', import.meta.url);

/** Asks a server at a fixed rate, from a process of its own. */
export class SteadyMeter implements AsyncDisposable {
  readonly #load: Child<SteadyOrder, SteadyAnswer>;

  constructor(signal: AbortSignal) {
    this.#load = new Child(STEADY_LOAD, signal);
  }

  async begin(load: SteadyLoad): Promise<void> {
    await this.#load.ask({ begin: load });
  }

  /** Of the requests since it was asked before, or began; it goes on. */
  tell(): Promise<SteadyAnswer> {
    return this.#load.ask('tell');
  }

  /** The same, and asks no more. */
  end(): Promise<SteadyAnswer> {
    return this.#load.ask('end');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#load[Symbol.asyncDispose]();
  }
}
