import { readFileSync, writeFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import { Random } from '../../../scripts/sample/random.ts';
import { RefusedSnapshot } from '../../../src/snapshot/format/refused-snapshot.ts';
import { COLLECTIONS } from '../../../src/snapshot/format/layout.ts';
import { inspectSnapshot, type ReadOptions } from '../../../src/snapshot/load/read-snapshot.ts';
import { keyOfRun, type SharedRun } from '../../../src/store/records.ts';
import { keyOf } from '../../../src/store/registry/store-view.ts';
import { byDepth } from '../../support/depth.ts';
import { organizationOf } from '../../support/import-folder.ts';
import { readSnapshot } from '../../support/read-snapshot.ts';
import { SoundSnapshot } from '../../support/sound-snapshot.ts';

describe('A changed byte anywhere in a snapshot', () => {
  const snapshot = new SoundSnapshot();
  const SEED = 466_072;
  const COPIES = byDepth({ short: 300, deep: 1200 });
  /** One in this many copies changes any byte, the others one that is not 0: SQLite never reads most zeros. */
  const ANYWHERE = 4;

  /** Returns the content of the snapshot, as if it were live. */
  const contentInMemory = () => {
    const runs = new Map<string, SharedRun>();
    for (const { organizationId, runs: declared } of inspectSnapshot(snapshot.path).organizations) {
      const content = organizationOf(snapshot.image, organizationId);
      for (const { name } of COLLECTIONS) {
        for (const [i, { digest }] of declared[name].entries()) {
          const key = keyOfRun(organizationId, digest);
          runs.set(key, { ...content[name].records.runs[i], key });
        }
      }
    }
    const lists = snapshot.image.organizations.flatMap(({ organizationId, lists }) =>
      Object.values(lists).map((list) => [keyOf(organizationId, list), list] as const),
    );
    return { runs, lists: new Map(lists) };
  };

  it(`is refused, or leaves the image as it was, also where its runs or lists are in memory (${COPIES} copies, seed ${SEED})`, () => {
    const random = new Random(SEED);
    const path = snapshot.copy();
    const bytes = readFileSync(path);
    const used = Array.from(bytes.keys()).filter((at) => bytes[at] !== 0);
    const known = contentInMemory();
    const modes: readonly ReadOptions[] = [
      {},
      { admit: () => ({ ...known, lists: new Map() }) },
      { admit: () => known },
    ];
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
