/**
 * Hashes a text to 64 bits, and appends the halves. The multipliers are those of cyrb53 (https://github.com/bryc/code).
 * Among 10,000,000 texts, two have the same hash with a probability below 0.001 %.
 * @param seed separates the texts of different owners
 */
export function addHash(target: number[], text: string, seed: number): void {
  let high = 0xdeadbeef ^ seed;
  let low = 0x41c6ce57 ^ seed;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    high = Math.imul(high ^ unit, 0x9e3779b1);
    low = Math.imul(low ^ unit, 0x5f356495);
  }
  const mixed = Math.imul(high ^ (high >>> 16), 0x85ebca6b) ^ Math.imul(low ^ (low >>> 13), 0xc2b2ae35);
  const other = Math.imul(low ^ (low >>> 16), 0x85ebca6b) ^ Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  target.push(mixed >>> 0, other >>> 0);
}

/** A set of 64-bit hashes, 16 to 32 bytes each: open addressing, linear probing; both halves are 0 when free. */
export class HashSet {
  #slots = new Uint32Array(64);
  #count = 0;

  /** Adds a hash. Returns false if the set has it. */
  add(high: number, low: number): boolean {
    const slot = this.#slotOf(high, low);
    if (this.#isTaken(slot)) return false;
    this.#slots[slot] = high;
    this.#slots[slot + 1] = low;
    this.#count++;
    if (this.#count * 4 > this.#slots.length) this.#grow();
    return true;
  }

  has(high: number, low: number): boolean {
    return this.#isTaken(this.#slotOf(high, low));
  }

  #isTaken(slot: number): boolean {
    return this.#slots[slot] !== 0 || this.#slots[slot + 1] !== 0;
  }

  /** Returns the slot of a hash, or the free one for it. */
  #slotOf(high: number, low: number): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    let slot = (low * 2) & mask;
    while (this.#isTaken(slot) && (slots[slot] !== high || slots[slot + 1] !== low)) slot = (slot + 2) & mask;
    return slot;
  }

  #grow(): void {
    const former = this.#slots;
    this.#slots = new Uint32Array(former.length * 2);
    for (let i = 0; i < former.length; i += 2) {
      if (former[i] === 0 && former[i + 1] === 0) continue;
      const slot = this.#slotOf(former[i], former[i + 1]);
      this.#slots[slot] = former[i];
      this.#slots[slot + 1] = former[i + 1];
    }
  }
}
