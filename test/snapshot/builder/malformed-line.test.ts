import { expect } from 'chai';
import fc from 'fast-check';
import { malformed } from '../../../src/snapshot/builder/import/malformed-line.ts';

const WHOLE =
  /^must be one whole JSON object: split an array with jq -c '\.\[\]', join indented lines with jq -c \.$/;
const CUT = /: the line ends too early$/;
const NUMBERS = /: write null for NaN, Infinity and None$/;
const COPY =
  /: COPY in text format doubles backslashes, so export with COPY \(…\) TO STDOUT WITH \(FORMAT csv, QUOTE E'\\x01', DELIMITER E'\\x02'\)$/;
const QUOTES = /: names and texts are in double quotes, other values are numbers, true, false and null$/;
const COMMA = /: no comma precedes } and \]$/;
const CONTROL = /: control characters in texts are escaped, such as \\t$/;
const CSV = /: convert CSV to NDJSON, see docs\/data\.md$/;
const PLAIN = /^must be a JSON object$/;

describe('A line that is not a JSON object', () => {
  for (const [line, reason, found] of [
    ['{"id":1,"price":NaN}', NUMBERS, `Unexpected token 'N', "{"id":1,"price":NaN}"`],
    ['{"id":1,"price":-Infinity}', NUMBERS, 'No number after minus sign at column 18'],
    ['{"id":[1,inf]}', NUMBERS, `Unexpected token 'i', "{"id":[1,inf]}"`],
    ['{"id":"a","title":"Ça', CUT, 'Unterminated string at column 22'],
    ['{"id":"a"', CUT, `Expected ',' or '}' after property value at column 10`],
    ['{"id":"a",', CUT, 'Expected double-quoted property name at column 11'],
    ['{', WHOLE, '{'],
    ['}', WHOLE, '}'],
    ['},', WHOLE, '},'],
    ['  "title": "Concert",', WHOLE, '"title": "Concert",'],
    ['"id":1,', WHOLE, '"id":1,'],
    ['    "blues",', WHOLE, '"blues",'],
    ['[', WHOLE, '['],
    ['[]', WHOLE, '[]'],
    ['[{"id":1},{"id":2}]', WHOLE, '[{"id":1},{"id":2}]'],
    ['[{"id":1},', WHOLE, '[{"id":1},'],
    ['{"id":1},', WHOLE, 'Unexpected non-whitespace character after JSON at column 9'],
    ['{"id":1}{"id":2}', WHOLE, 'Unexpected non-whitespace character after JSON at column 9'],
    ['{"id":1} {"id":2}', WHOLE, 'Unexpected non-whitespace character after JSON at column 10'],
    ['ticketId,orderId,listPrice', CSV, 'ticketId,orderId,listPrice'],
    ['"ticketId";"orderId"', CSV, '"ticketId";"orderId"'],
    ['tkt_1\tord_1', CSV, 'tkt_1\ufffdord_1'],
    [String.raw`{"title":"a \\"b\\" c"}`, COPY, "Expected ',' or '}' after property value at column 16"],
    [String.raw`{"title":"\\"b\\""}`, COPY, "Expected ',' or '}' after property value at column 14"],
    [String.raw`{"a":"5\\", 6\\""}`, COPY, 'Expected double-quoted property name at column 13'],
    ["{'id':'a'}", QUOTES, "Expected property name or '}' at column 2"],
    ['{id:1}', QUOTES, "Expected property name or '}' at column 2"],
    ['{"transferable":True}', QUOTES, `Unexpected token 'T', ..."sferable":True}"`],
    ['{"id":1,}', COMMA, 'Expected double-quoted property name at column 9'],
    ['{"tags":["a",]}', COMMA, `Unexpected token ']', "{"tags":["a",]}"`],
    ['{"title":"a\tb"}', CONTROL, 'Bad control character in string literal at column 12'],
    ['{"id":01}', PLAIN, 'Unexpected number at column 8'],
    ['{"price":1,50}', PLAIN, 'Expected double-quoted property name at column 12'],
    ['{"id" 1}', PLAIN, "Expected ':' after property name at column 7"],
    ['{"id":"\\x"}', PLAIN, 'Bad escaped character at column 9'],
    ['{"a":[1}', PLAIN, "Expected ',' or ']' after array element at column 8"],
    ['hello', PLAIN, 'hello'],
    ['null', PLAIN, 'null'],
    ['17', PLAIN, '17'],
    ['"text"', PLAIN, '"text"'],
    ['{\0"\0i\0', /^must be UTF-8, not UTF-16$/, undefined],
  ] as const) {
    it(`is explained: ${JSON.stringify(line)}`, () => {
      const problem = malformed(line);
      expect(problem.reason).to.match(reason);
      if (found !== undefined) expect(problem.found).to.equal(found);
    });
  }

  it('is cut where any beginning of an object ends', () => {
    fc.assert(
      fc.property(fc.object(), fc.nat(), (object, at) => {
        const text = JSON.stringify(object);
        const cut = text.slice(0, 1 + (at % (text.length - 1)));
        fc.pre(cut !== '{');
        expect(malformed(cut).reason).to.match(CUT);
      }),
      { seed: 13 },
    );
  });

  it('is explained however long it is, and however deep', () => {
    expect(malformed(`{"a":"${'x'.repeat(10_000_000)}`).found).to.equal(
      'Unterminated string at column 10000007',
    );
    expect(malformed(`{"a":${'['.repeat(1_000_000)}`).reason).to.match(CUT);
    expect(malformed(`{${' '.repeat(1_000_000)}'`).reason).to.match(QUOTES);
  });
});
