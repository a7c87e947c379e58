import { expect } from 'chai';
import { isOrganizationId, ORGANIZATION_ID_RULE } from '../../src/contract/headers.ts';

describe('isOrganizationId', () => {
  for (const id of ['o', 'org_1', '!~', 'A.b/c,d;e"f', 'x'.repeat(128)]) {
    it(`accepts ${id}`, () => {
      expect(isOrganizationId(id)).to.equal(true);
    });
  }

  for (const id of ['', 'a:b', ':', 'a b', ' a', 'a\n', 'a\t', '\x7f', 'örg', 'x'.repeat(129)]) {
    it(`refuses ${JSON.stringify(id)}`, () => {
      expect(isOrganizationId(id)).to.equal(false);
    });
  }

  it('has a rule that completes a sentence', () => {
    expect(ORGANIZATION_ID_RULE).to.match(/^must be .*128/);
  });
});
