import { expect } from 'chai';
import {
  BOOLEAN,
  CONTENT_DIGEST,
  EMAIL,
  ID_LIST,
  INSTANT,
  enumList,
  normalizeTag,
  ONE_ID,
  oneOf,
  PAGE,
  type ParameterKind,
  PER_PAGE,
  TAG_LIST,
} from '../../src/contract/parameter.ts';
import { queryReader } from '../../src/http/checks/query.ts';
import { Problem } from '../../src/http/response/problem.ts';

/** Returns the `ctx` of each violation of a text. */
function violationsOf(kind: ParameterKind, text: string): string[] {
  try {
    queryReader([{ name: 'a', kind, description: '' }])({ values: new Map([['a', [text]]]), violations: [] });
    return [];
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const { errors } = JSON.parse(String(error.body)) as { errors: { ctx: string }[] };
    return errors.map(({ ctx }) => ctx);
  }
}

const TEN = '1,2,3,4,5,6,7,8,9,10';

interface Case {
  readonly kind: ParameterKind;
  readonly valid: readonly string[];
  /** Each text with a part of the `ctx` of every violation. */
  readonly invalid: Readonly<Record<string, readonly string[]>>;
}

const cases: Readonly<Record<string, Case>> = {
  PAGE: {
    kind: PAGE,
    valid: ['1', '01', '25', '9'.repeat(400)],
    invalid: Object.fromEntries(
      ['', ' ', '0', '00', '-1', '+1', ' 1', '1 ', '1.5', '1.0', '1e2', '0x10', '１', 'Infinity', 'one'].map(
        (text) => [text, ['at least 1']],
      ),
    ),
  },
  PER_PAGE: {
    kind: PER_PAGE,
    valid: ['1', '100', '0100'],
    invalid: { '0': ['1 to 100'], '101': ['1 to 100'], '': ['1 to 100'], '1e1': ['1 to 100'] },
  },
  ID_LIST: {
    kind: ID_LIST,
    valid: ['a', ' a , b', 'a,a', TEN],
    invalid: {
      '': ['none of them empty'],
      ',': ['none of them empty'],
      'a,': ['none of them empty'],
      'a,,b': ['none of them empty'],
      [`${TEN},1`]: ['at most 10'],
      [`${TEN},`]: ['at most 10'],
    },
  },
  TAG_LIST: {
    kind: TAG_LIST,
    valid: ['Théâtre', ' a , b ', TEN],
    invalid: {
      '': ['white space only'],
      ' ': ['white space only'],
      'a, ': ['white space only'],
      [`${TEN},\u00a0`]: ['at most'],
    },
  },
  EMAIL: {
    kind: EMAIL,
    valid: ['a@b', 'Zoé+list@example.org', 'no address at all'.replaceAll(' ', '')],
    invalid: { '': ['non-empty'], 'a b@c': ['%2B'], ' a@b': ['%2B'], 'a\tb': ['without white space'] },
  },
  ONE_ID: { kind: ONE_ID, valid: ['a', ' ', 'a,b'], invalid: { '': ['non-empty'] } },
  BOOLEAN: {
    kind: BOOLEAN,
    valid: ['true', 'false'],
    invalid: Object.fromEntries(
      ['', 'True', 'TRUE', '1', '0', 'yes'].map((text) => [text, ['true or false']]),
    ),
  },
  oneOf: {
    kind: oneOf(['PENDING', 'FULFILLED']),
    valid: ['PENDING', 'FULFILLED'],
    invalid: Object.fromEntries(
      ['', 'pending', 'PENDING,FULFILLED', ' PENDING', 'PAID'].map((text) => [text, ['PENDING, FULFILLED']]),
    ),
  },
};

for (const [name, { kind, valid, invalid }] of Object.entries(cases)) {
  describe(`parameter kind ${name}`, () => {
    const violated = (text: string) => violationsOf(kind, text);
    for (const text of valid) {
      it(`accepts ${JSON.stringify(text.slice(0, 60))}`, () => {
        expect(violated(text)).to.deep.equal([]);
      });
    }
    for (const [text, words] of Object.entries(invalid)) {
      it(`refuses ${JSON.stringify(text)}: ${words.join(' and ')}`, () => {
        const ctx = violated(text);
        expect(ctx).to.have.length(words.length);
        for (const word of words) expect(ctx.some((each) => each.includes(word))).to.equal(true);
      });
    }
  });
}

describe('The kinds of parameters', () => {
  it('read the values that a query compares', () => {
    for (const [kind, text, value] of [
      [EMAIL, 'Zoé@Example.org', 'zoé@example.org'],
      [BOOLEAN, 'true', true],
      [BOOLEAN, 'false', false],
      [PAGE, '007', 7],
      [TAG_LIST, ' Hip  Hop,b', ['hip hop', 'b']],
      [enumList(['a', 'b']), 'b,a', ['b', 'a']],
    ] as const) {
      const read = queryReader([{ name: 'a', kind, description: '' }]);
      expect(read({ values: new Map([['a', [text]]]), violations: [] })).to.deep.equal({ a: value });
    }
  });

  const PLUS = '; encode + as %2B in a query string';
  const T = '; write T between date and time, not a space';
  for (const [text, hints] of [
    ['2026-01-31T20:00:00 01:00', PLUS],
    ['2026-01-31T20:00:00 0100', PLUS],
    ['20260131T200000 01', PLUS],
    ['2026-01-31 20:00:00Z', T],
    ['2026-01-31 20:00:00 01:00', T + PLUS],
    ['2026-01-31 20:00', `${T}; the offset is missing`],
    ['2026-01-31T20:00:00', '; the offset is missing'],
    ['2026-01-31T20%3A00%3A00Z', '; it is percent-encoded twice'],
    ['2026-01-31T20:00:00%2B01:00', '; it is percent-encoded twice'],
    ['2026-02-30T20:00:00Z', '; 2026-02 has 28 days'],
    ['20240431T200000Z', '; 2024-04 has 30 days'],
    ['2027-02-29T20:00:00+01:00', '; 2027-02 has 28 days'],
    ['2026-13-01T20:00:00Z', ''],
    ['2026-01-31T25:00:00Z', ''],
    ['yesterday', ''],
    ['2026-01-31', ''],
    ['', ''],
    ['2026-01-31T20:00:00Z,2026-01-31T20:00:00Z', ''],
    ['0000-02-29T00:00', '; the offset is missing'],
  ] as const)
    it(`name the likely mistake of ${text}`, () => {
      const form =
        'must be an ISO 8601 date and time with Z or an offset, such as 2026-01-31T20:00:00%2B01:00';
      expect(violationsOf(INSTANT, text)).to.deep.equal([form + hints]);
    });

  it('name the values that a list may have, and where a digest comes from', () => {
    expect(violationsOf(enumList(['a', 'b']), 'c').join()).to.match(/each one of a, b$/);
    expect(violationsOf(CONTENT_DIGEST, 'x').join()).to.match(/nextPage link/);
  });
});

describe('normalizeTag', () => {
  const same: [string, string][] = [
    ['  Hip   Hop ', 'hip hop'],
    ['HIP\u00a0HOP', 'hip hop'],
    ['The\u0301a\u0302tre', 'théâtre'],
    ['TH\u00c9\u00c2TRE', 'théâtre'],
    ['Straße', 'strasse'],
    ['STRA\u1e9eE', 'strasse'],
    ['ΟΔΟΣ', normalizeTag('οδοσ')],
    ['\ufb01n', 'fin'],
  ];
  for (const [tag, form] of same) {
    it(`turns ${JSON.stringify(tag)} into ${form}`, () => {
      expect(normalizeTag(tag)).to.equal(form);
    });
  }
  it('sorts marks, at most 30 in a row', () => {
    expect(normalizeTag('q\u0301\u0327')).to.equal(normalizeTag('q\u0327\u0301'));
    expect(normalizeTag(`q${'\u0301'.repeat(30)}\u0327`)).to.match(/\u0301\u034f\u0327$/);
  });
  it('keeps accents', () => {
    expect(normalizeTag('Théâtre')).not.to.equal(normalizeTag('Theatre'));
  });
});
