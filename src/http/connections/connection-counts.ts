import { hash } from 'node:crypto';
import { ipKeyGenerator } from 'express-rate-limit';

const IPV6_NETWORK_BITS = 64;

/** Returns the network of an address: an IPv4 address itself, the /64 of an IPv6 address. */
export function networkOf(address: string): string {
  return ipKeyGenerator(address, IPV6_NETWORK_BITS);
}

/** Number of slots for counts of networks. Networks with the same hash share a slot. */
export const NETWORK_SLOTS = 2 ** 16;

/** Returns the slot of a network, which is the same in all workers. */
export function networkSlot(network: string): number {
  return hash('sha256', network, 'buffer').readUInt16LE();
}

/** The element that counts all connections. */
const ALL = NETWORK_SLOTS;
/** The element with the limit of all connections. */
const LIMIT = NETWORK_SLOTS + 1;

/** Numbers of open connections by the slot of their network, their sum, and its limit. */
type CountsBySlot = Int32Array<SharedArrayBuffer>;

/** The memory of `ConnectionCounts`: `shared` of all workers, `part` of one. */
export interface ConnectionMemory {
  readonly shared: CountsBySlot;
  readonly part: CountsBySlot;
}

export function newCountsBySlot(): CountsBySlot {
  return new Int32Array(new SharedArrayBuffer((LIMIT + 1) * Int32Array.BYTES_PER_ELEMENT));
}

/**
 * Counts the open connections of a process, in all and for each network, over all workers. The part of a worker is
 * subtracted when the worker ends, because its connections end without an event.
 */
export class ConnectionCounts {
  readonly memory: ConnectionMemory;

  constructor(memory: ConnectionMemory) {
    this.memory = memory;
  }

  /** Number of open connections in all. */
  get all(): number {
    return Atomics.load(this.memory.shared, ALL);
  }

  /** Maximum number of connections in all. */
  get limit(): number {
    return Atomics.load(this.memory.shared, LIMIT);
  }

  set limit(connections: number) {
    Atomics.store(this.memory.shared, LIMIT, connections);
  }

  /** Returns the number of connections of the networks with this slot. */
  inSlot(slot: number): number {
    return Atomics.load(this.memory.shared, slot);
  }

  /** @param slot undefined for a connection that counts for no network */
  add(slot: number | undefined): void {
    this.#change(ALL, 1);
    if (slot !== undefined) this.#change(slot, 1);
  }

  remove(slot: number | undefined): void {
    this.#change(ALL, -1);
    if (slot !== undefined) this.#change(slot, -1);
  }

  /** Removes all connections of the worker, which has ended. */
  clear(): void {
    for (const [slot, count] of this.memory.part.entries()) if (count !== 0) this.#change(slot, -count);
  }

  #change(slot: number, by: number): void {
    this.memory.part[slot] += by;
    Atomics.add(this.memory.shared, slot, by);
  }
}
