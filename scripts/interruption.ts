import { Refused } from './run-command.ts';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** Aborts some work on the first signal to stop. The next one ends the process at once, as by default. */
export class Interruption implements Disposable {
  readonly #controller = new AbortController();
  readonly #interrupt: (name: NodeJS.Signals) => void;

  /** @param outcome of the work when it is interrupted, for the user */
  constructor(outcome: string) {
    this.#interrupt = (name) => {
      this[Symbol.dispose]();
      this.#controller.abort(new Refused(`interrupted by ${name}; ${outcome}`));
    };
    for (const name of SIGNALS) process.on(name, this.#interrupt);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  [Symbol.dispose](): void {
    for (const name of SIGNALS) process.off(name, this.#interrupt);
  }
}
