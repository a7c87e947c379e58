import { expect } from 'chai';
import fc from 'fast-check';
import { LogRing } from '../../src/log/log-ring.ts';

const HEAD_BYTES = 16;
const BYTES = 64;
/** Positions are signed 32-bit integers. */
const LAST_POSITION = 2 ** 31 - 1;

/** Returns a ring whose first line begins at a position. */
function ringAt(position: number): LogRing {
  const memory = new SharedArrayBuffer(HEAD_BYTES + BYTES);
  new Int32Array(memory).set([position, position]);
  return new LogRing(memory);
}

/** A queue of lines with the capacity of a ring. */
class Oracle {
  dropped = 0;
  #lines: string[] = [];

  get length(): number {
    return Buffer.byteLength(this.#lines.join(''));
  }

  write(line: string): void {
    if (this.length + Buffer.byteLength(line) <= BYTES) this.#lines.push(line);
    else this.dropped++;
  }

  take(most: number): string {
    let taken = this.#lines.shift() ?? '';
    while (this.#lines.length > 0 && Buffer.byteLength(taken + this.#lines[0]) <= most) {
      taken += this.#lines.shift() ?? '';
    }
    return taken;
  }
}

describe('A ring of log lines', () => {
  const unit = fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom('a', '"', '\u0000') },
    fc.constantFrom('é', '€', '𝄞'),
  );
  const step = fc.oneof(
    fc.record({ line: fc.string({ unit, maxLength: 70 }).map((text) => `${text}\n`) }),
    fc.record({ line: fc.string({ unit, maxLength: 10 }).map((text) => `${text}\n`) }),
    fc.record({ most: fc.integer({ min: 1, max: 80 }) }),
  );
  const start = fc.oneof(
    fc.nat(2 * BYTES),
    fc.integer({ min: LAST_POSITION - 3 * BYTES, max: LAST_POSITION }),
  );

  it('is a queue of whole lines with bounded capacity, at all positions', () => {
    fc.assert(
      fc.property(start, fc.array(step, { maxLength: 40 }), (position, steps) => {
        const ring = ringAt(position);
        const oracle = new Oracle();
        for (const next of steps) {
          if ('line' in next) {
            ring.write(next.line);
            oracle.write(next.line);
          } else {
            expect(ring.take(next.most).toString()).to.equal(oracle.take(next.most));
          }
          expect([ring.length, ring.dropped]).to.deep.equal([oracle.length, oracle.dropped]);
        }
      }),
      { numRuns: 2000 },
    );
  });
});
