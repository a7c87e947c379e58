import { expect } from 'chai';
import { buildInstantIndex } from '../../../src/store/index/instant-index.ts';
import { KeyTableBuilder } from '../../../src/store/index/key-table.ts';
import {
  keyNumbers,
  keysByRow,
  PostingIndexBuilder,
  postingList,
} from '../../../src/store/index/posting-index.ts';
import { encodeTexts } from '../../support/encode-texts.ts';

/** The comparison of pages with the oracle's proves that it gives the rows of each key. */
describe('A posting index', () => {
  it('lies in shared memory with all of its parts, as does the instant index', () => {
    const instants = buildInstantIndex(BigInt64Array.from({ length: 400 }, (_, i) => BigInt(i % 7)));
    const builder = new PostingIndexBuilder();
    for (let row = 0; row < 400; row++) {
      const keys = row % 3 === 0 ? ['1', '2'] : ['3'];
      builder.addLists(row, encodeTexts(keys), Uint32Array.of(keys.length));
    }
    const image = builder.finish(['updatedAt', instants.rows]);
    const arraysOf = (part: unknown): ArrayBufferView[] => {
      if (ArrayBuffer.isView(part)) return [part];
      return typeof part === 'object' && part !== null ? Object.values(part).flatMap(arraysOf) : [];
    };
    expect(arraysOf(image)).to.have.length(11);
    for (const { buffer } of arraysOf([image, instants])) expect(buffer).to.be.instanceOf(SharedArrayBuffer);
  });

  for (const [what, changed, keys] of [
    ['keeps its keys, and grows by new ones', 60, 260],
    ['has no keys of other rows when they are many', 150, 200],
  ] as const)
    it(`that continues another one ${what}`, () => {
      const rows = 200;
      const builder = new PostingIndexBuilder();
      for (let row = 0; row < rows; row++)
        builder.addLists(row, encodeTexts([`old ${row}`]), Uint32Array.of(1));
      const first = builder.finish();
      // The rows at the front are new ones.
      const origins = Int32Array.from({ length: rows }, (_, row) => (row < changed ? -1 - row : row));
      const next = new PostingIndexBuilder(0, undefined, KeyTableBuilder.from(first.keys));
      next.addContinued(origins, keysByRow(first, rows), (origin) => [`new ${-1 - origin}`]);
      const image = next.withoutUnusedKeys().finish();
      expect(image.keys.ends).to.have.length(keys + 1);
      for (const [row, origin] of origins.entries()) {
        const text = origin < 0 ? `new ${row}` : `old ${row}`;
        const [key] = keyNumbers(image, [text]);
        expect([...postingList(image, key)], text).to.deep.equal([row]);
      }
      expect(keyNumbers(image, ['absent'])).to.deep.equal([]);
    });
});
