import { expect } from 'chai';
import { codedTag, entityTag, matchedTag, matchesAnyTag } from '../../../src/http/response/etag.ts';

const tag = entityTag('content', 'stable', 'http://host', '/v1/events');

describe('matchedTag', () => {
  for (const current of [tag, codedTag(tag, 'gzip'), codedTag(tag, 'zstd')]) {
    for (const header of [current, `W/${current}`, `"a", ${current}`, `"a",W/${current} , "b"`]) {
      it(`finds the tag in ${header}`, () => {
        expect(matchedTag(header, tag)).to.equal(current);
      });
    }
  }
  const others = [undefined, '', '*', '"a"', tag.slice(1, -1), `w/${tag}`, `${tag.slice(0, -1)}x"`];
  for (const header of [...others, `${tag.slice(0, -1)}.br"`]) {
    it(`finds none in ${String(header)}`, () => {
      expect(matchedTag(header, tag)).to.equal(undefined);
    });
  }

  it('returns the first one listed', () => {
    expect(matchedTag(`"a", ${codedTag(tag, 'gzip')}, ${tag}`, tag)).to.equal(codedTag(tag, 'gzip'));
  });
});

describe('matchesAnyTag', () => {
  it('recognizes a single asterisk', () => {
    expect([' * ', '*'].map(matchesAnyTag)).to.deep.equal([true, true]);
    expect([undefined, '', '"*"', '*, "a"'].map(matchesAnyTag)).to.deep.equal([false, false, false, false]);
  });
});
