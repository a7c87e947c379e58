import type { Worker } from 'node:worker_threads';
import type { Asked, Order, Outcome, Told } from './thread-protocol.ts';

/** A thread that answers requests, as its supervisor has it. */
export class AnsweringThread {
  readonly #worker: Worker;
  readonly #started = Promise.withResolvers<boolean>();
  readonly #ended = Promise.withResolvers<string>();
  /** Who waits for an answer, by the number of what was asked. */
  readonly #asking = new Map<number, (outcome: Outcome | undefined) => void>();
  /** Who waits until it waits for others, by the step. */
  readonly #steps = new Map<number, PromiseWithResolvers<undefined>>();
  #latestNumber = 0;
  #reason: string | undefined;
  #hasEnded = false;

  constructor(worker: Worker) {
    this.#worker = worker;
    worker.on('message', (told: Told) => {
      this.#hear(told);
    });
    worker.on('error', (error: unknown) => {
      this.#reason ??= error instanceof Error ? (error.stack ?? error.message) : String(error);
    });
    worker.on('exit', (code) => {
      this.#end(this.#reason ?? `it ended with code ${code}`);
    });
  }

  /** Whether it came to follow orders: fulfilled with false when it ended before that. */
  get started(): Promise<boolean> {
    return this.#started.promise;
  }

  /** Why it ended, once it has. */
  get ended(): Promise<string> {
    return this.#ended.promise;
  }

  /** Fulfilled when it has done it; with undefined when it ended instead. */
  ask(order: Order): Promise<Outcome | undefined> {
    if (this.#hasEnded) return Promise.resolve(undefined);
    const number = ++this.#latestNumber;
    const { promise, resolve } = Promise.withResolvers<Outcome | undefined>();
    this.#asking.set(number, resolve);
    const asked: Asked = { number, order };
    this.#worker.postMessage(asked);
    return promise;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Fulfilled when it waits for other threads at a step of its way to the end, or has ended. */
  waitsAt(step: number): Promise<unknown> {
    return Promise.race([this.#step(step).promise, this.ended]);
  }

  /** Ends it at once. */
  async terminate(reason: string): Promise<void> {
    this.#reason ??= reason;
    await this.#worker.terminate();
  }

  #hear(told: Told): void {
    if ('isStarted' in told) {
      this.#started.resolve(true);
      return;
    }
    if ('waitsAt' in told) {
      this.#step(told.waitsAt).resolve(undefined);
      return;
    }
    const resolve = this.#asking.get(told.answered);
    this.#asking.delete(told.answered);
    resolve?.(told.outcome);
  }

  #step(step: number): PromiseWithResolvers<undefined> {
    let waiting = this.#steps.get(step);
    if (waiting === undefined) {
      waiting = Promise.withResolvers();
      this.#steps.set(step, waiting);
    }
    return waiting;
  }

  #end(reason: string): void {
    this.#hasEnded = true;
    this.#started.resolve(false);
    for (const resolve of this.#asking.values()) resolve(undefined);
    this.#asking.clear();
    this.#ended.resolve(reason);
  }
}
