import { execFileSync } from 'node:child_process';
import { expect } from 'chai';
import fc from 'fast-check';
import { curlLine, maskedCurlLine, quoted } from '../../../src/pages/shared/curl.js';
import { organizationOf } from '../../../src/pages/shared/session.js';

describe('A curl line', () => {
  const url = "https://example.org/replica/v1/tickets?orderIds=a'b";
  const headersWith = (key: string) =>
    [
      ['Authorization', `Bearer ${key}`],
      ['Service-API-Version', 'preview'],
    ] as const;

  it('has the address and the headers of the request', () => {
    expect(curlLine(url, headersWith('svc:o:org:secret'))).to.equal(
      String.raw`curl -sS 'https://example.org/replica/v1/tickets?orderIds=a'\''b' \
  -H 'Authorization: Bearer svc:o:org:secret' \
  -H 'Service-API-Version: preview'`,
    );
  });

  it('hides the secret of the key on the screen', () => {
    expect(maskedCurlLine(url, headersWith('svc:o:org:secret'))).to.include('Bearer svc:o:org:•');
    for (const key of ['svc:o:org:secret', 'svc:o:org:a:secret', 'secret'])
      expect(maskedCurlLine(url, headersWith(key))).to.not.include('secret');
    expect(organizationOf('svc:o:org:secret')).to.equal('org');
  });

  it('quotes any text for a shell', () => {
    const unit = fc.constantFrom("'", '"', '\\', '$', '`', '!', '\n', ' ', '-', '%', 'a', 'é', '\u{1f39f}');
    const texts = fc.sample(fc.string({ unit, maxLength: 20 }), { numRuns: 100, seed: 1 });
    const output = execFileSync('sh', ['-c', `printf '%s\\0' ${texts.map(quoted).join(' ')}`]).toString();
    expect(output.split('\0').slice(0, -1)).to.deep.equal(texts);
  });
});
