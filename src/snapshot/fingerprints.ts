import { hash } from 'node:crypto';
import type { Bytes, Row } from '../store/shared.ts';

const FINGERPRINT_BYTES = 32;

/**
 * The records of a collection by their ids, in list order, each as a fingerprint of the texts that tell about it: their
 * digests (SHA-256), combined by exclusive or, so that their order does not matter.
 */
export class Fingerprints {
  readonly #ids: string[] = [];
  readonly #rows = new Map<string, Row>();
  readonly #bytes: Buffer;

  /** `count`: how many records there are. */
  constructor(count: number) {
    this.#bytes = Buffer.alloc(count * FINGERPRINT_BYTES);
  }

  get ids(): readonly string[] {
    return this.#ids;
  }

  /** Names the next row. Returns whether no other has the name. */
  name(id: string): boolean {
    this.#rows.set(id, this.#ids.push(id) - 1);
    return this.#rows.size === this.#ids.length;
  }

  /** Adds a text that tells about the record of a row. */
  add(row: Row, text: Bytes | string): void {
    const digest = hash('sha256', text, 'buffer');
    const start = row * FINGERPRINT_BYTES;
    for (let i = 0; i < FINGERPRINT_BYTES; i++) this.#bytes[start + i] ^= digest[i];
  }

  /** The fingerprint of a record; undefined when there is no such record. */
  of(id: string): Buffer | undefined {
    const row = this.#rows.get(id);
    return row === undefined
      ? undefined
      : this.#bytes.subarray(row * FINGERPRINT_BYTES, (row + 1) * FINGERPRINT_BYTES);
  }
}
