import { readFileSync, writeFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import { Random } from '../../../scripts/sample/random.ts';
import { RefusedSnapshot } from '../../../src/snapshot/format/refused-snapshot.ts';
import type { ReadOptions } from '../../../src/snapshot/load/read-snapshot.ts';
import type { KnownList } from '../../../src/store/registry/store-view.ts';
import { byDepth } from '../../support/depth.ts';
import { readSnapshot } from '../../support/read-snapshot.ts';
import { SoundSnapshot } from '../../support/sound-snapshot.ts';

describe('A changed byte anywhere in a snapshot', () => {
  const snapshot = new SoundSnapshot();
  const SEED = 466_072;
  const COPIES = byDepth({ short: 300, deep: 1200 });
  /** One in this many copies changes any byte, the others one that is not 0: SQLite never reads most zeros. */
  const ANYWHERE = 4;

  /** Returns the lists of the snapshot, as if they were live. */
  const listsInMemory = (): KnownList[] =>
    snapshot.image.organizations.flatMap(({ organizationId, lists }) =>
      Object.values(lists).map((list) => ({
        organizationId,
        image: list,
        stays: true,
      })),
    );

  it(`is refused, or leaves the image as it was, also where its lists are in memory (${COPIES} copies, seed ${SEED})`, () => {
    const random = new Random(SEED);
    const path = snapshot.copy();
    const bytes = readFileSync(path);
    const used = Array.from(bytes.keys()).filter((at) => bytes[at] !== 0);
    const modes: readonly ReadOptions[] = [{}, { admit: () => ({ known: listsInMemory() }) }];
    const images = modes.map((options) => readSnapshot(snapshot.path, options));
    let refused = 0;
    for (let i = 0; i < COPIES; i++) {
      const at = i % ANYWHERE === 0 ? random.below(bytes.length) : used[random.below(used.length)];
      const changed = bytes[at] ^ (1 + random.below(255));
      const mode = Math.trunc(i / ANYWHERE) % modes.length;
      writeFileSync(path, bytes.with(at, changed));
      try {
        // The image is all that is served: the records and the indexes.
        const image = readSnapshot(path, modes[mode]);
        if (!isDeepStrictEqual(image, images[mode])) expect.fail('the image has changed');
      } catch (error) {
        const isRefusal = error instanceof RefusedSnapshot && error.message !== '';
        if (!isRefusal)
          throw new Error(`byte ${at}: ${bytes[at]} → ${changed} (copy ${i})`, { cause: error });
        refused++;
      }
    }
    expect(refused)
      .to.be.greaterThan(COPIES / 2)
      .and.lessThan(COPIES);
  });
});
