import { expect } from 'chai';
import type { Parameter } from '../../../src/contract/operations.ts';
import { PAGE } from '../../../src/contract/parameter.ts';
import { ignoredParameters, parseQuery } from '../../../src/http/checks/query.ts';
import { Problem } from '../../../src/http/response/problem.ts';

describe('parseQuery', () => {
  const cases: [text: string, entries: [string, string[]][]][] = [
    ['', []],
    ['page=2', [['page', ['2']]]],
    ['page', [['page', ['']]]],
    ['page=', [['page', ['']]]],
    ['&&page=2&', [['page', ['2']]]],
    ['=x', []],
    ['a=b=c', [['a', ['b=c']]]],
    ['a=1&b=2&a=3', [['a', ['1', '3']], ['b', ['2']]]], // prettier-ignore
    ['a+b=c+d', [['a b', ['c d']]]],
    ['a%2Bb=%2B', [['a+b', ['+']]]],
    ['tags=Th%C3%A9%C3%A2tre', [['tags', ['Théâtre']]]],
    ['__proto__=1&constructor=2', [['__proto__', ['1']], ['constructor', ['2']]]], // prettier-ignore
    ['a[b]=1&a[]=2', [['a[b]', ['1']], ['a[]', ['2']]]], // prettier-ignore
    ['a;b=1', [['a;b', ['1']]]],
  ];
  for (const [text, entries] of cases) {
    it(`reads ${text || 'nothing'}`, () => {
      expect([...parseQuery(text)]).to.deep.equal(entries);
    });
  }

  it('reads any number of parameters', () => {
    const text = Array.from({ length: 5000 }, (_, i) => `x${i}=1`).join('&') + '&page=0';
    expect(parseQuery(text).get('page')).to.deep.equal(['0']);
  });

  for (const text of ['a=%', 'a=%zz', '%=1', 'a=%ff', 'a=%C3', 'a=%ED%A0%80', 'a=%C0%AF']) {
    it(`refuses ${text}`, () => {
      expect(() => parseQuery(text))
        .to.throw(Problem, 'percent-encoding')
        .with.property('status', 400);
    });
  }
});

const page: Parameter = { name: 'page', kind: PAGE, description: '' };
const ignored = (query: string) => ignoredParameters(parseQuery(query), [page]);

describe('ignoredParameters', () => {
  it('is cut at 2,000 characters', () => {
    const many = ignored(Array.from({ length: 1000 }, (_, i) => `name${i}`).join('&')) ?? '';
    expect(many).to.have.length.at.most(2000);
    expect(many).to.match(/name\d+, \.\.\.$/);
    expect(ignored('x'.repeat(3000))).to.equal('...');
    // Its text, the separator and the ellipsis need 2,000 characters.
    expect(ignored('x'.repeat(1995))).to.equal('x'.repeat(1995));
    expect(ignored('x'.repeat(1996))).to.equal('...');
  });
});
