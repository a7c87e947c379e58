import { expect } from 'chai';
import { isHost } from '../../../src/http/response/origin.ts';

describe('isHost', () => {
  const valid = [
    'localhost',
    'api.example.org',
    'api.example.org.',
    'API.Example.Org:8080',
    '127.0.0.1:3000',
    '[::1]',
    '[2001:db8::1]:443',
    'a_b.internal',
    'x:0',
    'x:65535',
  ];
  for (const host of valid) {
    it(`takes ${host}`, () => {
      expect(isHost(host)).to.equal(true);
    });
  }

  const invalid = [
    undefined,
    '',
    'a b',
    'user@host',
    'host/path',
    'host?x',
    'host#x',
    'host\\x',
    '"><script>',
    'host:',
    'host:65536',
    'host:80:80',
    'host:x',
    '-host',
    '.host',
    '[::1',
    '[::g]',
    '[1.2.3.4]',
    '::1',
    'évil.example',
    'a,b',
    'x'.repeat(300),
  ];
  for (const host of invalid) {
    it(`does not take ${JSON.stringify(host)}`, () => {
      expect(isHost(host)).to.equal(false);
    });
  }
});
