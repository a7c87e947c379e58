import { hash } from 'node:crypto';
import { ipKeyGenerator } from 'express-rate-limit';
import { type CountsBySlot, newCountsBySlot, WorkerCounts } from '../worker-counts.ts';

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
export function newConnectionCounts(): CountsBySlot {
  return newCountsBySlot(LIMIT + 1);
}

/** Counts the open connections of a process, in all and for each network, over all workers. */
export class ConnectionCounts extends WorkerCounts {
  /** Number of open connections in all. */
  get all(): number {
    return this.inSlot(ALL);
  }

  /** Maximum number of connections in all. */
  get limit(): number {
    return this.inSlot(LIMIT);
  }

  set limit(connections: number) {
    Atomics.store(this.memory.shared, LIMIT, connections);
  }

  /** @param slot undefined for a connection that counts for no network */
  add(slot: number | undefined): void {
    this.change(ALL, 1);
    if (slot !== undefined) this.change(slot, 1);
  }

  remove(slot: number | undefined): void {
    this.change(ALL, -1);
    if (slot !== undefined) this.change(slot, -1);
  }
}
