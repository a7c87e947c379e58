import type { Worker } from 'node:worker_threads';
import { sharedRecordsOf } from '../store/organization-image.ts';
import type { OwnedImage } from '../store/registry/store-view.ts';
import type { Command, NumberedCommand, Outcome, Reply, ViewUpdate } from './protocol.ts';

/**
 * Maximum number of buffers in one message, unless a single image has more. Between messages, the worker answers requests.
 * The time to send the buffers of a message grows with the square of their number.
 */
const BATCH_BUFFERS = 1024;
/** What an image counts for besides its shared slabs: the buffers of its arrays, or their views of a packed one. */
const IMAGE_BUFFERS = 32;
/** A worker without a reply is ended after this number of checks. A stall of the whole process counts as one check. */
const MAX_CHECKS = 6;
const CHECK_MS = 5000;

export class WorkerHandle {
  readonly #worker: Worker;
  /** Resolvers of the commands without a reply, by number. */
  readonly #pending = new Map<number, (outcome: Outcome | undefined) => void>();
  #latestNumber = 0;
  readonly #ended = Promise.withResolvers<string>();
  /** Fulfilled when the worker accepts commands, or has ended before that. */
  readonly started = this.#replyTo(0);
  /** Fulfilled with the reason when the worker has ended. */
  readonly ended = this.#ended.promise;
  hasEnded = false;
  #reason: string | undefined;

  constructor(worker: Worker) {
    this.#worker = worker;
    worker.on('message', ({ number, outcome }: Reply) => {
      this.#pending.get(number)?.(outcome);
      this.#pending.delete(number);
    });
    worker.on('error', (error: unknown) => {
      this.#reason ??= error instanceof Error ? (error.stack ?? error.message) : String(error);
    });
    worker.on('exit', (code) => {
      this.hasEnded = true;
      for (const resolve of this.#pending.values()) resolve(undefined);
      this.#pending.clear();
      this.#ended.resolve(this.#reason ?? `it ended with code ${code}`);
    });
  }

  /**
   * Sends a command. Fulfilled with its outcome; with undefined when the worker ends instead. Ends a worker that does not
   * reply: a swap and a revocation wait for all workers. Only the drain may take any time.
   */
  run(command: Command): Promise<Outcome | undefined> {
    if (this.hasEnded) return Promise.resolve(undefined);
    const number = ++this.#latestNumber;
    const reply = this.#replyTo(number);
    const numbered: NumberedCommand = { number, command };
    this.#worker.postMessage(numbered);
    if (command.name === 'drain') return reply;
    let checks = 0;
    const watch = setInterval(() => {
      if (++checks === MAX_CHECKS) void this.terminate(`it did not reply to ${command.name}`);
    }, CHECK_MS).unref();
    return reply.finally(() => {
      clearInterval(watch);
    });
  }

  async prepare({ images, view }: Pick<ViewUpdate, 'images' | 'view'>): Promise<void> {
    for (const batch of batchesOf(images)) await this.run({ name: 'add-images', images: batch });
    await this.run({ name: 'prepare-view', view });
  }

  async terminate(reason: string): Promise<void> {
    this.#reason ??= reason;
    await this.#worker.terminate();
  }

  #replyTo(number: number): Promise<Outcome | undefined> {
    return new Promise((resolve) => this.#pending.set(number, resolve));
  }
}

/** Yields images in batches for one message each. */
export function* batchesOf(images: readonly OwnedImage[]): Generator<OwnedImage[]> {
  let batch: OwnedImage[] = [];
  let buffers = 0;
  for (const sent of images) {
    const slabs = sharedRecordsOf(sent.image).flatMap((records) => records.slabs);
    const more = IMAGE_BUFFERS + slabs.length;
    if (batch.length > 0 && buffers + more > BATCH_BUFFERS) {
      yield batch;
      [batch, buffers] = [[], 0];
    }
    batch.push(sent);
    buffers += more;
  }
  if (batch.length > 0) yield batch;
}
