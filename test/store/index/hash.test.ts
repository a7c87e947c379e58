import { execFileSync } from 'node:child_process';
import { expect } from 'chai';
import { COLLIDING_TEXTS } from '../../support/random.ts';
import { hashBytes, slotCount } from '../../../src/store/index/texts.ts';

describe('The hash of a text', () => {
  it('is HalfSipHash-1-3, by the vectors of Linux (lib/tests/siphash_kunit.c)', () => {
    const bytes = Uint8Array.from({ length: 64 }, (_, i) => i);
    const vectors = [
      0x5814c896, 0xe7e864ca, 0xbc4b0e30, 0x01539939, 0x7e059ea6, 0x88e3d89b, 0xa0080b65, 0x9d38d9d6,
      0x577999b1,
    ];
    expect(vectors.map((_, length) => hashBytes(bytes, 0, length))).to.deep.equal(vectors);
    expect(hashBytes(bytes, 0, 63)).to.equal(0x87178304);
  });

  it('has a key of its own in each process, which its threads inherit', () => {
    const url = JSON.stringify(new URL('../../../src/store/index/texts.ts', import.meta.url));
    const print = `import(${url}).then(({ hashBytes }) => console.log(hashBytes(Buffer.from('a'))))`;
    const program = `${print}.then(() => new Worker(${JSON.stringify(print)}, { eval: true }))`;
    const imports = "const { Worker } = require('node:worker_threads');";
    const hashes = [1, 2].map(() =>
      execFileSync(process.execPath, ['-e', imports + program], { encoding: 'utf8' }).split('\n'),
    );
    for (const [inProcess, inThread] of hashes) expect(inThread).to.equal(inProcess);
    expect(hashes[0]).not.to.deep.equal(hashes[1]);
  });

  it('depends only on the bytes of the range, and is the same for the colliding texts of the index tests', () => {
    const bytes = Buffer.from('<<évt_42>>');
    expect(hashBytes(bytes, 2, bytes.length - 2)).to.equal(hashBytes(Buffer.from('évt_42')));
    for (const [one, other] of COLLIDING_TEXTS)
      expect(hashBytes(Buffer.from(one))).to.equal(hashBytes(Buffer.from(other)));
  });

  it('selects one of a power of two of slots, half of which are free', () => {
    for (let count = 0; count < 3000; count++) {
      const slots = slotCount(count);
      expect(Math.log2(slots) % 1).to.equal(0);
      expect(slots).to.be.within(Math.max(4, count * 2 + 1), Math.max(4, count * 4));
    }
  });
});
