import { Child } from './child.ts';
import type { SteadyAnswer, SteadyLoad, SteadyOrder } from './steady-load.ts';

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
