import { expect } from 'chai';
import fc from 'fast-check';
import { formatCredential, parseCredential } from '../../src/keys/credential.ts';

const SEED = 36;

const credential = { organizationId: 'org_1', secret: 's3cret-_' };

describe('parseCredential', () => {
  const accepted = [
    'Bearer svc:o:org_1:s3cret-_',
    'bearer svc:o:org_1:s3cret-_',
    'BEARER svc:o:org_1:s3cret-_',
    'bEaReR   svc:o:org_1:s3cret-_',
  ];
  for (const value of accepted) {
    it(`parses ${value}`, () => {
      expect(parseCredential(value)).to.deep.equal(credential);
    });
  }

  const refused: [fault: string, value: string][] = [
    ['an empty header', ''],
    ['a scheme alone', 'Bearer'],
    ['a scheme and a space', 'Bearer '],
    ['a credential without a scheme', 'svc:o:org_1:s3cret'],
    ['no space after the scheme', 'Bearersvc:o:org_1:s3cret'],
    ['a tab after the scheme', 'Bearer\tsvc:o:org_1:s3cret'],
    ['a space before the scheme', ' Bearer svc:o:org_1:s3cret'],
    ['another scheme', 'Basic svc:o:org_1:s3cret'],
    ['a longer scheme', 'XBearer svc:o:org_1:s3cret'],
    ['another prefix', 'Bearer svx:o:org_1:s3cret'],
    ['a prefix in another case', 'Bearer SVC:o:org_1:s3cret'],
    ['another marker', 'Bearer svc:u:org_1:s3cret'],
    ['a marker in another case', 'Bearer svc:O:org_1:s3cret'],
    ['three parts', 'Bearer svc:o:org_1'],
    ['five parts', 'Bearer svc:o:org_1:s3cret:more'],
    ['an empty organization', 'Bearer svc:o::s3cret'],
    ['an empty key', 'Bearer svc:o:org_1:'],
    ['a trailing space', 'Bearer svc:o:org_1:s3cret '],
    ['a trailing line break', 'Bearer svc:o:org_1:s3cret\n'],
    ['a word after the credential', 'Bearer svc:o:org_1:s3cret more'],
    ['a space in the organization', 'Bearer svc:o:org 1:s3cret'],
    ['a letter outside ASCII', 'Bearer svc:o:örg_1:s3cret'],
    ['quotation marks', 'Bearer "svc:o:org_1:s3cret"'],
    ['two headers joined', 'Bearer svc:o:org_1:s3cret, Bearer svc:o:org_1:s3cret'],
  ];
  for (const [fault, value] of refused) {
    it(`refuses ${fault}`, () => {
      expect(parseCredential(value)).to.equal(undefined);
    });
  }

  const part = fc.stringMatching(/^[!-9;-~]{1,40}$/);

  it('parses every result of formatCredential', () => {
    fc.assert(
      fc.property(part, part, (organizationId, secret) => {
        const text = formatCredential({ organizationId, secret });
        expect(parseCredential(`Bearer ${text}`)).to.deep.equal({ organizationId, secret });
      }),
      { seed: SEED },
    );
  });
});
