import { readFileSync, writeFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import { RefusedSnapshot } from '../../src/snapshot/refused-snapshot.ts';
import { readSnapshot } from '../../src/snapshot/read-snapshot.ts';
import { randomFrom } from './random.ts';
import { SoundSnapshot } from './sound-snapshot.ts';

describe('a byte changed anywhere in a snapshot', () => {
  const snapshot = new SoundSnapshot();
  const SEED = 466_072;
  const COPIES = 400;

  it(`is refused, or gives exactly what the original gives (${COPIES} copies, seed ${SEED})`, () => {
    const { below } = randomFrom(SEED);
    const bytes = readFileSync(snapshot.path);
    const used = Array.from(bytes.keys()).filter((at) => bytes[at] !== 0);
    const path = snapshot.copy();
    let refused = 0;
    for (let i = 0; i < COPIES; i++) {
      // Most of a small file are zeros that nothing reads.
      const at = i % 4 === 0 ? below(bytes.length) : used[below(used.length)];
      const original = bytes[at];
      bytes[at] = original ^ (1 + below(255));
      writeFileSync(path, bytes);
      const what = `byte ${at}: ${original} → ${bytes[at]} (copy ${i}, seed ${SEED})`;
      try {
        if (!isDeepStrictEqual(readSnapshot(path), snapshot.image)) expect.fail(`${what} goes unnoticed`);
      } catch (error) {
        if (!(error instanceof RefusedSnapshot)) throw new Error(what, { cause: error });
        expect(error.message, what).to.not.equal('');
        refused++;
      }
      bytes[at] = original;
    }
    expect(refused).to.be.greaterThan(COPIES / 2);
  }).timeout(60_000);
});
