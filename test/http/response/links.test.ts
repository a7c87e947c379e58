import { expect } from 'chai';
import { linkHeader } from '../../../src/http/reads/records.ts';

describe('linkHeader', () => {
  it('is absent without a link, and for a link of more than 2,000 characters', () => {
    const link = `http://h/${'a'.repeat(1991)}`;
    expect(linkHeader(link)).to.deep.equal(['Link', `<${link}>; rel="next"`]);
    expect(linkHeader(`${link}a`)).to.deep.equal([]);
    expect(linkHeader(undefined)).to.deep.equal([]);
  });
});
