import { expect } from 'chai';
import { PAGE, TAG_LIST } from '../../../src/contract/parameter.ts';
import { parseQuery, queryReader } from '../../../src/http/checks/query.ts';
import { Problem } from '../../../src/http/response/problem.ts';

const parameters = ['page', 'tags', 'a', 'a b', 'a+b'].map((name) => ({
  name,
  kind: name === 'tags' ? TAG_LIST : PAGE,
  description: '',
}));
const parsed = (text: string, prefer?: string) => parseQuery(text, parameters, prefer);
const ignored = (text: string) => parsed(text).headers.at(1);

describe('parseQuery', () => {
  const cases: [text: string, entries: [string, string[]][], ignored?: string][] = [
    ['', []],
    ['page=2', [['page', ['2']]]],
    ['page', [['page', ['']]]],
    ['page=', [['page', ['']]]],
    ['&&page=2&', [['page', ['2']]]],
    ['=x', []],
    ['a=b=c', [['a', ['b=c']]]],
    ['a=1&b=2&a=3', [['a', ['1', '3']]], 'b'], // prettier-ignore
    ['a+b=c+d', [['a b', ['c d']]]],
    ['a%2Bb=%2B&%70age=3', [['a+b', ['+']], ['page', ['3']]]], // prettier-ignore
    ['tags=Th%C3%A9%c3%a2tre', [['tags', ['Théâtre']]]],
    ['__proto__=1&constructor=2', [], '__proto__, constructor'], // prettier-ignore
    ['a[b]=1&a[]=2&a[]=3', [], 'a%5Bb%5D, a%5B%5D'],
    ['a;b=1', [], 'a%3Bb'],
    ['%=1&b=%&%ff=2&%C3%A9=%zz', [], '%25, b, %25ff, %C3%A9'],
    ['%0d%0aX-Evil:%201=1', [], '%0D%0AX-Evil%3A%201'],
  ];
  for (const [text, entries, others] of cases) {
    it(`reads ${text || 'nothing'}`, () => {
      const { values, violations } = parsed(text);
      expect([...values]).to.deep.equal(entries);
      expect(violations).to.deep.equal([]);
      expect(ignored(text)).to.equal(others);
    });
  }

  it('reads any number of parameters', () => {
    const text = Array.from({ length: 5000 }, (_, i) => `x${i}=1`).join('&') + '&page=0';
    expect(parsed(text).values.get('page')).to.deep.equal(['0']);
  });

  for (const input of ['%', '%zz', '100%', '%ff', '%C3', '%ED%A0%80', '%C0%AF', '%F4%90%80%80'])
    it(`reports ${input} in the value of a parameter, as it was sent`, () => {
      const ctx = 'must be percent-encoded UTF-8; encode % as %25';
      const found = parsed(`a=1&tags=${input}&page=%41&tags=b`).violations;
      expect(found).to.deep.equal([{ loc: 'query.tags', input, ctx }]);
    });

  it('is cut in the header at 400 characters', () => {
    const many = ignored(Array.from({ length: 1000 }, (_, i) => `name${i}`).join('&')) ?? '';
    expect(many).to.have.length.at.most(400);
    expect(many).to.match(/name\d+, \.\.\.$/);
    expect(ignored('x'.repeat(3000))).to.equal('...');
    expect(ignored('x'.repeat(400))).to.equal('x'.repeat(400));
    expect(ignored('x'.repeat(401))).to.equal('...');
    expect(ignored(`${'x'.repeat(395)}&yyyyyy`)).to.equal(`${'x'.repeat(395)}, ...`);
    expect(ignored(`${'x'.repeat(396)}&yyyyyy`)).to.equal('...');
  });
});

describe('Strict handling', () => {
  const strict = ['handling=strict', 'Handling = "strict"; x=1', 'wait=5, handling=strict', 'respond-async,handling=strict,handling=lenient']; // prettier-ignore
  for (const prefer of strict)
    it(`is requested by Prefer: ${prefer}`, () => {
      const { violations, headers } = parsed('page=1&b=2', prefer);
      expect(violations.map(({ loc, input }) => [loc, input])).to.deep.equal([['query.b', '2']]);
      expect(violations[0].ctx).to.equal(
        'is not one of the parameters of this operation: page, tags, a, a b, a+b',
      );
      expect(headers).to.deep.equal(['Preference-Applied', 'handling=strict']);
    });

  for (const prefer of [
    '',
    'handling',
    'handling=lenient, handling=strict',
    'handling=strictly',
    'x-handling=strict',
  ])
    it(`is not requested by Prefer: ${prefer}`, () => {
      expect(parsed('b=2', prefer)).to.deep.include({
        violations: [],
        headers: ['Service-API-Ignored-Parameters', 'b'],
      });
    });

  it('reports all violations, those of at most 100 other parameters', () => {
    const names = Array.from({ length: 200 }, (_, i) => `x${i}`);
    const query = parsed(`page=0&a=%&${names.join('&')}`, 'handling=strict');
    const expected = ['page', 'a', ...names.slice(0, 100)].map((name) => `query.${name}`);
    expect(() => queryReader(parameters)(query))
      .to.throw(Problem)
      .with.property('body')
      .satisfies((body: Buffer) => {
        const { errors } = JSON.parse(String(body)) as { errors: { loc: string }[] };
        expect(errors.map(({ loc }) => loc)).to.deep.equal(expected);
        return true;
      });
  });
});
