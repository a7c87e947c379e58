import { expect } from 'chai';
import { buildInstantIndex } from '../../../src/store/index/instant-index.ts';
import { PostingIndexBuilder } from '../../../src/store/index/posting-index.ts';
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
});
