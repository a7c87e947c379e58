import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads';
import type { MessagePort } from 'node:worker_threads';
import type { GrowingRecords } from './growing-records.ts';

/** An end of the way on which one thread hands growing records to another, which waits for them. */
export interface HandoverEnd {
  readonly port: MessagePort;
  /** One element: how many there were so far. */
  readonly given: Int32Array<SharedArrayBuffer>;
}

/** Both ends; each goes to a thread of its own. */
export function handover(): { readonly giver: HandoverEnd; readonly taker: HandoverEnd } {
  const { port1, port2 } = new MessageChannel();
  const given = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  return { giver: { port: port1, given }, taker: { port: port2, given } };
}

export function give({ port, given }: HandoverEnd, records: GrowingRecords): void {
  port.postMessage(records);
  Atomics.add(given, 0, 1);
  Atomics.notify(given, 0);
}

/** Those that are given after `taken` others; holds the thread until they are there. */
export function take({ port, given }: HandoverEnd, taken: number): GrowingRecords {
  Atomics.wait(given, 0, taken);
  const received = receiveMessageOnPort(port) as { readonly message: GrowingRecords } | undefined;
  if (received === undefined) throw new TypeError('nothing was handed over');
  return received.message;
}
