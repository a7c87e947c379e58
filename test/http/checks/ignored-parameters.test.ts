import { expect } from 'chai';
import { PAGE } from '../../../src/contract/parameter.ts';
import type { Parameter } from '../../../src/contract/operations.ts';
import { ignoredParameters } from '../../../src/http/checks/ignored-parameters.ts';
import { parseQuery } from '../../../src/http/checks/query-string.ts';

const page: Parameter = { name: 'page', kind: PAGE, role: { is: 'page' }, description: '', example: '1' };
const ignored = (query: string) => ignoredParameters(parseQuery(query), [page]);

describe('ignoredParameters', () => {
  it('is nothing when every name is known', () => {
    expect(ignored('')).to.equal(undefined);
    expect(ignored('page=1')).to.equal(undefined);
  });

  it('names what is unknown, once each, in the order given', () => {
    expect(ignored('b=1&page=1&a=2&b=3&Page=1')).to.equal('b, a, Page');
  });

  it('writes names so that they are safe in a header', () => {
    expect(ignored('%0d%0aSet-Cookie:x=1&caf%C3%A9=1&a,b=2')).to.equal(
      '%0D%0ASet-Cookie%3Ax, caf%C3%A9, a%2Cb',
    );
  });

  it('is cut at 2,000 characters', () => {
    const many = ignored(Array.from({ length: 1000 }, (_, i) => `name${i}`).join('&')) ?? '';
    expect(many).to.have.length.at.most(2000);
    expect(many).to.match(/name\d+, \.\.\.$/);
    expect(ignored('x'.repeat(3000))).to.equal('...');
  });
});
