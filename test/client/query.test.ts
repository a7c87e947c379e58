import { expect } from 'chai';
import fc from 'fast-check';
import { encodeQuery } from '../../client/src/query.ts';
import { EMAIL, ID_LIST } from '../../src/contract/parameter.ts';
import { parseTimestamp } from '../../src/contract/timestamp.ts';
import { parseQuery } from '../../src/http/checks/query.ts';
import { FIXED } from '../support/random.ts';

describe('The query of the TypeScript client', () => {
  it('has dotted bounds in UTC or with their offset, lists with commas, and no absent value', () => {
    const query = encodeQuery({
      updatedAt: { gte: new Date(0), lte: '2026-01-01T00:00+01:00', gt: undefined },
      eventIds: ['é', 'a+b'],
      resaleEnabled: false,
      perPage: 5,
      status: undefined,
    });
    expect(query).to.equal(
      'updatedAt.gte=1970-01-01T00%3A00%3A00.000Z&updatedAt.lte=2026-01-01T00%3A00%2B01%3A00' +
        '&eventIds=%C3%A9,a%2Bb&resaleEnabled=false&perPage=5',
    );
    expect(encodeQuery({})).to.equal('');
  });

  it('arrives at the service as it was meant', () => {
    const value = fc.string({ unit: 'grapheme', minLength: 1 }).map((text) => text.replaceAll(',', ';'));
    fc.assert(
      fc.property(fc.array(value, { minLength: 1 }), value, (ids, email) => {
        const parameters = [
          { name: 'ids', kind: ID_LIST, description: '' },
          { name: 'email', kind: EMAIL, description: '' },
        ];
        const { values } = parseQuery(encodeQuery({ ids, email }), parameters);
        expect([...values]).to.deep.equal([
          ['ids', [ids.join(',')]],
          ['email', [email]],
        ]);
      }),
      FIXED,
    );
  });

  it('has a time in each form that the service reads, and none without an offset', () => {
    for (const local of ['2026-01-31T20:00', '2026-01-31T20:00:00,5', '20260131T200000.5']) {
      for (const offset of ['Z', '+01:00', '-0130', '+01']) {
        const gte = local + offset;
        expect(parseTimestamp(gte), gte).to.be.a('bigint');
        expect(encodeQuery({ at: { gte } })).to.equal(`at.gte=${encodeURIComponent(gte)}`);
      }
      expect(() => encodeQuery({ at: { gte: local } })).to.throw(RangeError, /must .* end in Z or an offset/);
    }
  });

  it('refuses what it cannot express, and names the filter', () => {
    for (const [filters, message] of [
      [{ qrCodes: ['a', 'b,c'] }, /^qrCodes: .*"b,c".* commas/],
      [{ updatedAt: { gte: '2026-01-01' } }, /^updatedAt\.gte: "2026-01-01" must have a time/],
      [{ updatedAt: { gte: '2026-01-01T00:00:00' } }, /^updatedAt\.gte/],
      [{ updatedAt: { gte: new Date('x') } }, /^updatedAt\.gte: the date is invalid/],
    ] as const)
      expect(() => encodeQuery(filters)).to.throw(RangeError, message);
    for (const filters of [{ status: null }, { status: () => '' }, { eventIds: [null] }, { at: { gte: 5 } }])
      expect(() => encodeQuery(filters)).to.throw(TypeError, /^(status|eventIds|at\.gte): /);
    expect(() => encodeQuery({ updatedAt: new Date() })).to.throw(TypeError, /^updatedAt: /);
  });
});
