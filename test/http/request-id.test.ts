import { expect } from 'chai';
import { requestIdOf } from '../../src/http/request-context.ts';

describe('requestIdOf', () => {
  for (const id of ['a', 'A-z_0.9', 'x'.repeat(128)]) {
    it(`keeps ${id.slice(0, 12)}`, () => {
      expect(requestIdOf(id)).to.equal(id);
    });
  }
  for (const id of [undefined, '', 'x'.repeat(129), 'a b', 'a,b', 'é', 'a\n', ['a', 'b']]) {
    it(`makes a new one for ${String(id).slice(0, 12)}`, () => {
      expect(requestIdOf(id)).to.match(/^[0-9a-f-]{36}$/);
    });
  }
});
