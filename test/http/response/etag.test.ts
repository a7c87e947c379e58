import { expect } from 'chai';
import { entityTag, matchesAnyTag, matchesTag } from '../../../src/http/response/etag.ts';

const tag = entityTag('content', 'stable', 'http://host', '/v1/events');

describe('entityTag', () => {
  it('is a strong tag, equal for equal parts', () => {
    expect(tag).to.match(/^"content\.stable\.[0-9a-z]+"$/);
    expect(entityTag('content', 'stable', 'http://host', '/v1/events')).to.equal(tag);
  });

  it('differs by content, version, origin and target', () => {
    const others = [
      entityTag('changed', 'stable', 'http://host', '/v1/events'),
      entityTag('content', 'preview', 'http://host', '/v1/events'),
      entityTag('content', 'stable', 'http://tsoh', '/v1/events'),
      entityTag('content', 'stable', 'http://host', '/v1/events?page=2'),
    ];
    expect(new Set([tag, ...others])).to.have.property('size', 5);
  });
});

describe('matchesTag', () => {
  for (const header of [tag, `W/${tag}`, `"a", ${tag}`, `"a",W/${tag} , "b"`]) {
    it(`matches ${header}`, () => {
      expect(matchesTag(header, tag)).to.equal(true);
    });
  }
  for (const header of [undefined, '', '*', '"a"', tag.slice(1, -1), `w/${tag}`, `${tag.slice(0, -1)}x"`]) {
    it(`does not match ${String(header)}`, () => {
      expect(matchesTag(header, tag)).to.equal(false);
    });
  }
});

describe('matchesAnyTag', () => {
  it('recognizes a single asterisk', () => {
    expect([' * ', '*'].map(matchesAnyTag)).to.deep.equal([true, true]);
    expect([undefined, '', '"*"', '*, "a"'].map(matchesAnyTag)).to.deep.equal([false, false, false, false]);
  });
});
