import { hash, randomBytes } from 'node:crypto';
import { ipKeyGenerator } from 'express-rate-limit';
import { monotonicNow } from '../clock.ts';
import { countHit, newHitCounts } from './hit-counts.ts';
import { type CountsBySlot, newCountsBySlot } from './open-counts.ts';

const IPV6_NETWORK_BITS = 64;
/** Time for which a network stays suspect. */
const SUSPECT_MS = 60_000;
const SETS = 2 ** 13;
const SET_LENGTH = 8;
const SLOTS = SETS * SET_LENGTH;
const COUNT_BITS = 20n;
const COUNT_MASK = (1n << COUNT_BITS) - 1n;

/** Returns the network of an address: an IPv4 address itself, the /64 of an IPv6 address. */
export function networkOf(address: string): string {
  return ipKeyGenerator(address, IPV6_NETWORK_BITS);
}

/**
 * The table of networks, which all workers share. A secret salt decides in which set of slots a network is, and its
 * fingerprint. One atomic operation changes fingerprint and connections together:
 *
 *     63                            20 19                     0
 *     | fingerprint of the network    | its open connections   |
 */
export type NetworksMemory = Readonly<ReturnType<typeof newNetworksMemory>>;

/** The system allocates memory only for slots that are used. */
export function newNetworksMemory() {
  const bytes = () => new SharedArrayBuffer(SLOTS * BigInt64Array.BYTES_PER_ELEMENT);
  return {
    salt: randomBytes(32).toString('hex'),
    words: new BigInt64Array(bytes()),
    hits: newHitCounts(SLOTS),
    /** The end of suspicion, in milliseconds of the monotonic clock. */
    suspectUntil: new Float64Array(bytes()),
  };
}

/**
 * Counts the connections and the refusals of each network, over all workers. No two networks share a count: a network
 * takes a slot of its set without connections, that with the oldest hits. Without such a slot, it is not counted.
 */
export class Networks {
  readonly #memory: NetworksMemory;
  readonly part: CountsBySlot;

  constructor(memory: NetworksMemory, part = newCountsBySlot(SLOTS)) {
    this.#memory = memory;
    this.part = part;
  }

  /** Counts a connection. Returns the slot of its network, and the connections of that network. */
  connect(network: string): { readonly slot: number; readonly connections: number } | undefined {
    const added = this.#add(network, 1n);
    if (added !== undefined) this.part[added.slot]++;
    return added;
  }

  disconnect(slot: number): void {
    this.part[slot]--;
    Atomics.sub(this.#memory.words, slot, 1n);
  }

  /** Makes the network of an open connection suspect, or renews the suspicion. */
  suspect(slot: number): void {
    this.#memory.suspectUntil[slot] = monotonicNow() + SUSPECT_MS;
  }

  isSuspect(slot: number): boolean {
    return this.#memory.suspectUntil[slot] > monotonicNow();
  }

  /** Counts a hit of a network. Returns its hits in the current window. */
  countHit(network: string, windowMs: number, now: number): number {
    const slot = this.#add(network, 0n)?.slot;
    return slot === undefined ? 0 : countHit(this.#memory.hits, slot, windowMs, now).count;
  }

  /** Subtracts the connections of the worker, which has ended. */
  clear(): void {
    for (let slot = 0; slot < SLOTS; slot++) while (this.part[slot] > 0) this.disconnect(slot);
  }

  #add(network: string, by: bigint): { slot: number; connections: number } | undefined {
    const { salt, words, hits, suspectUntil } = this.#memory;
    const bytes = hash('sha256', salt + network, 'buffer');
    const first = (bytes.readUInt32LE(8) % SETS) * SET_LENGTH;
    const slots = Array.from({ length: SET_LENGTH }, (_, i) => first + i);
    const fingerprint = bytes.readBigInt64LE(0) >> COUNT_BITS;
    for (;;) {
      const found = slots.map((slot) => ({ slot, word: Atomics.load(words, slot) }));
      const own = found.find(({ word }) => word >> COUNT_BITS === fingerprint);
      const free = found.filter(({ word }) => (word & COUNT_MASK) === 0n);
      if (own === undefined && free.length === 0) return undefined;
      const { slot, word } = own ?? free.reduce((a, b) => (hits[a.slot] <= hits[b.slot] ? a : b));
      const changed = own === undefined ? (fingerprint << COUNT_BITS) + by : word + by;
      // Another thread may have changed the slot.
      if (Atomics.compareExchange(words, slot, word, changed) !== word) continue;
      if (own === undefined) {
        hits[slot] = 0n;
        suspectUntil[slot] = 0;
      }
      return { slot, connections: Number(changed & COUNT_MASK) };
    }
  }
}
