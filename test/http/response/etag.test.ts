import { expect } from 'chai';
import { codedTag, entityTag, matchedTag, matchesAnyTag } from '../../../src/http/response/etag.ts';

const tag = entityTag('content', 'stable', 'http://host', '/v1/events');

describe('matchedTag', () => {
  it('returns the first tag listed that is the tag, or the tag with a content coding', () => {
    const coded = codedTag(tag, 'gzip');
    expect(matchedTag(`"a",W/${coded} , ${tag}`, tag)).to.equal(coded);
    expect(matchedTag(`${tag},${coded}`, tag)).to.equal(tag);
    expect(matchedTag(`${'"a",'.repeat(99)}${tag}`, tag), 'of the first 100').to.equal(tag);
  });

  const others = [undefined, '', '*', '"a"', tag.slice(1, -1), `w/${tag}`, `${tag.slice(0, -1)}x"`];
  for (const header of [...others, `${tag.slice(0, -1)}.br"`, `${'"a",'.repeat(100)}${tag}`]) {
    it(`finds none in ${String(header)}`, () => {
      expect(matchedTag(header, tag)).to.equal(undefined);
    });
  }
});

describe('matchesAnyTag', () => {
  it('recognizes a single asterisk', () => {
    expect([' * ', '*'].map(matchesAnyTag)).to.deep.equal([true, true]);
    expect([undefined, '', '"*"', '*, "a"'].map(matchesAnyTag)).to.deep.equal([false, false, false, false]);
  });
});
