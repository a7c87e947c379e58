import type { Worker } from 'node:worker_threads';
import type { Command, NumberedCommand, Outcome, SentImage, SentView, WorkerMessage } from './protocol.ts';

/** Maximum number of images in one batch. Between batches, the worker answers requests. */
const BATCH_IMAGES = 8;

/** A worker, as the supervisor holds it. */
export class WorkerHandle {
  readonly #worker: Worker;
  readonly #started = Promise.withResolvers<boolean>();
  readonly #ended = Promise.withResolvers<string>();
  /** Resolvers of the commands without a reply, by number. */
  readonly #pending = new Map<number, (outcome: Outcome | undefined) => void>();
  readonly #drainSteps = new Map<number, PromiseWithResolvers<undefined>>();
  #latestNumber = 0;
  #reason: string | undefined;
  #hasEnded = false;

  constructor(worker: Worker) {
    this.#worker = worker;
    worker.on('message', (message: WorkerMessage) => {
      this.#receive(message);
    });
    worker.on('error', (error: unknown) => {
      this.#reason ??= error instanceof Error ? (error.stack ?? error.message) : String(error);
    });
    worker.on('exit', (code) => {
      this.#end(this.#reason ?? `it ended with code ${code}`);
    });
  }

  /** Fulfilled with whether the worker accepts commands; with false if it ended before that. */
  get started(): Promise<boolean> {
    return this.#started.promise;
  }

  /** Fulfilled with the reason when the worker has ended. */
  get ended(): Promise<string> {
    return this.#ended.promise;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Sends a command. Fulfilled with its outcome; with undefined when the worker ends instead. */
  run(command: Command): Promise<Outcome | undefined> {
    if (this.#hasEnded) return Promise.resolve(undefined);
    const number = ++this.#latestNumber;
    const { promise, resolve } = Promise.withResolvers<Outcome | undefined>();
    this.#pending.set(number, resolve);
    const numbered: NumberedCommand = { number, command };
    this.#worker.postMessage(numbered);
    return promise;
  }

  /** Sends the missing images and then a view. */
  async prepare(images: readonly SentImage[], view: SentView): Promise<void> {
    for (let i = 0; i < images.length; i += BATCH_IMAGES) {
      const batch = images.slice(i, i + BATCH_IMAGES);
      await Promise.all(batch.map((image) => this.run({ name: 'add-image', image })));
    }
    await this.run({ name: 'prepare-view', view });
  }

  /** Waits until the worker has reached a drain step or ended. */
  waitForDrainStep(step: number): Promise<unknown> {
    return Promise.race([this.#drainStep(step).promise, this.ended]);
  }

  /** Ends the worker at once. */
  async terminate(reason: string): Promise<void> {
    this.#reason ??= reason;
    await this.#worker.terminate();
  }

  #receive(message: WorkerMessage): void {
    if ('isStarted' in message) {
      this.#started.resolve(true);
      return;
    }
    if ('drainStep' in message) {
      this.#drainStep(message.drainStep).resolve(undefined);
      return;
    }
    const resolve = this.#pending.get(message.done);
    this.#pending.delete(message.done);
    resolve?.(message.outcome);
  }

  #drainStep(step: number): PromiseWithResolvers<undefined> {
    let reached = this.#drainSteps.get(step);
    if (reached === undefined) {
      reached = Promise.withResolvers();
      this.#drainSteps.set(step, reached);
    }
    return reached;
  }

  #end(reason: string): void {
    this.#hasEnded = true;
    this.#started.resolve(false);
    for (const resolve of this.#pending.values()) resolve(undefined);
    this.#pending.clear();
    this.#ended.resolve(reason);
  }
}
