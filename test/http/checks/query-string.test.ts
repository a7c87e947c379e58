import { expect } from 'chai';
import { Problem } from '../../../src/http/response/problem.ts';
import { parseQuery } from '../../../src/http/checks/query-string.ts';

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
