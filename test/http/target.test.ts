import { expect } from 'chai';
import { normalizeTarget, queryOf } from '../../src/http/request-context.ts';

describe('normalizeTarget', () => {
  const cases: [target: string, normal: string][] = [
    ['/v1/events?page=1', '/v1/events?page=1'],
    ['/', '/'],
    ['//host/path', '//host/path'],
    ['http://host:80/v1/events?a=1', '/v1/events?a=1'],
    ['HTTPS://host?a=1', '/?a=1'],
    ['http://host', '/'],
    ['http://[bad/v1', '/v1'],
    ['*', '/*'],
    ['host:443', '/host:443'],
    ['/v1/events#part?page=1', '/v1/events'],
  ];
  for (const [target, normal] of cases) {
    it(`turns ${JSON.stringify(target)} into ${normal}`, () => {
      expect(normalizeTarget(target)).to.equal(normal);
    });
  }
});

describe('queryOf', () => {
  it('returns the part after the first question mark', () => {
    expect(queryOf('/a')).to.equal('');
    expect(queryOf('/a?')).to.equal('');
    expect(queryOf('/a?b=c?d')).to.equal('b=c?d');
  });
});
