import { MessageChannel, type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import type { Manifest } from '../format/manifest.ts';
import type { RefusedSnapshot } from '../format/refused-snapshot.ts';
import type { Part } from './parts.ts';

/** What the reader sends to the loader. */
export type ReaderMessage =
  | { readonly manifest: Manifest }
  | Part
  | { readonly refused: ConstructorParameters<typeof RefusedSnapshot> };

/** An end of the queue from the reader to the loader. Both block while they wait. */
export interface QueueEnd {
  readonly port: MessagePort;
  /** Messages sent, messages taken, and passes over the file that the loader has begun. */
  readonly counts: Int32Array<SharedArrayBuffer>;
}

const [SENT, TAKEN, PASSES] = [0, 1, 2];

/** Messages that are not taken yet, at most: a block may have megabytes. */
const AHEAD = 4;

/** Returns the ends of a queue, that of the reader first. */
export function newQueue(): readonly [QueueEnd, QueueEnd] {
  const { port1, port2 } = new MessageChannel();
  const counts = new Int32Array(new SharedArrayBuffer(3 * Int32Array.BYTES_PER_ELEMENT));
  return [
    { port: port1, counts },
    { port: port2, counts },
  ];
}

/** Puts a message into the queue when there is room. */
export function put({ port, counts }: QueueEnd, message: ReaderMessage, buffers: ArrayBuffer[] = []): void {
  const sent = Atomics.load(counts, SENT);
  for (;;) {
    const taken = Atomics.load(counts, TAKEN);
    if (sent - taken < AHEAD) break;
    Atomics.wait(counts, TAKEN, taken);
  }
  port.postMessage(message, buffers);
  add(counts, SENT);
}

/** Returns the next message when there is one. */
export function take({ port, counts }: QueueEnd): ReaderMessage {
  Atomics.wait(counts, SENT, Atomics.load(counts, TAKEN));
  const message = receiveMessageOnPort(port)?.message as ReaderMessage;
  add(counts, TAKEN);
  return message;
}

/** Makes the reader begin a pass. */
export function beginPass({ counts }: QueueEnd): void {
  add(counts, PASSES);
}

/** Waits until the loader has begun a pass after some others. */
export function awaitPass({ counts }: QueueEnd, others: number): void {
  Atomics.wait(counts, PASSES, others);
}

function add(counts: QueueEnd['counts'], index: number): void {
  Atomics.add(counts, index, 1);
  Atomics.notify(counts, index);
}
