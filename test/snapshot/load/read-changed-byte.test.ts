import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import { Random } from '../../../scripts/sample/random.ts';
import { RefusedSnapshot } from '../../../src/snapshot/format/refused-snapshot.ts';
import { readSnapshot } from '../../support/read-snapshot.ts';
import type { SnapshotImage } from '../../../src/store/organization-image.ts';
import { byDepth } from '../../support/depth.ts';
import { SoundSnapshot } from '../../support/sound-snapshot.ts';

describe('A changed byte anywhere in a snapshot', () => {
  const snapshot = new SoundSnapshot();
  const SEED = 466_072;
  const COPIES = byDepth({ short: 300, deep: 1200 });
  /** One in this many copies changes any byte, the others one that is not 0: SQLite never reads most zeros. */
  const ANYWHERE = 4;

  it(`is refused, or leaves the image as it was (${COPIES} copies, seed ${SEED})`, () => {
    const random = new Random(SEED);
    const path = snapshot.copy();
    const bytes = readFileSync(path);
    const used = Array.from(bytes.keys()).filter((at) => bytes[at] !== 0);
    const file = openSync(path, 'r+');
    let refused = 0;
    try {
      for (let i = 0; i < COPIES; i++) {
        const at = i % ANYWHERE === 0 ? random.below(bytes.length) : used[random.below(used.length)];
        const changed = bytes[at] ^ (1 + random.below(255));
        const what = `byte ${at}: ${bytes[at]} → ${changed} (copy ${i}, seed ${SEED})`;
        writeSync(file, Uint8Array.of(changed), 0, 1, at);
        const image = imageOf(path, what);
        if (image === undefined) refused++;
        // The image is all that is served: the records and the indexes.
        else if (!isDeepStrictEqual(image, snapshot.image)) expect.fail(`${what} changes the image`);
        writeSync(file, bytes, at, 1, at);
      }
    } finally {
      closeSync(file);
    }
    expect(refused)
      .to.be.greaterThan(COPIES / 2)
      .and.lessThan(COPIES);
    expect(readFileSync(path).equals(bytes), 'the restored copy').to.equal(true);
    expect(isDeepStrictEqual(readSnapshot(path), snapshot.image)).to.equal(true);
  });

  /** Returns the image, or undefined when the file is refused with a message. */
  function imageOf(path: string, what: string): SnapshotImage | undefined {
    try {
      return readSnapshot(path);
    } catch (error) {
      if (!(error instanceof RefusedSnapshot)) throw new Error(what, { cause: error });
      expect(error.message, what).to.not.equal('');
      return undefined;
    }
  }
});
