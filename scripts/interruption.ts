import { Refused } from './run-command.ts';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** Aborts work on the first stop signal. The second ends the process immediately, as by default. */
export class Interruption implements Disposable {
  readonly #controller = new AbortController();
  readonly #interrupt: (name: NodeJS.Signals) => void;

  /** @param outcome of the interrupted work, for the message to the user */
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
