import { expect } from 'chai';
import fc from 'fast-check';
import { malformed } from '../../../src/snapshot/build/malformed-line.ts';

const WHOLE =
  /^must be one whole JSON object: split an array with jq -c '\.\[\]', join indented lines with jq -c \.$/;
const CUT = /: the line ends too early$/;
const NUMBERS = /: write null for NaN and Infinity$/;
const COPY =
  /: COPY in text format doubles backslashes, so export with COPY \(…\) TO STDOUT WITH \(FORMAT csv, QUOTE E'\\x01', DELIMITER E'\\x02'\)$/;
const QUOTES = /: names and texts are in double quotes, other values are numbers, true, false and null$/;
const COMMA = /: no comma precedes } and \]$/;
const CONTROL = /: control characters in texts are escaped, such as \\t$/;
const CSV = /: convert CSV to NDJSON, see docs\/data\.md$/;
const PLAIN = /^must be a JSON object$/;

describe('A line that is not a JSON object', () => {
  for (const [line, reason, found] of [
    ['{"id":1,"price":NaN}', NUMBERS, 'NaN at column 17'],
    ['{"id":1,"price":-Infinity}', NUMBERS, '-Infinity at column 17'],
    ['{"id":[1,inf]}', NUMBERS, 'inf at column 10'],
    ['{"id":"a","title":"Ça', CUT, 'its end at column 22'],
    ['{"id":"a"', CUT, 'its end at column 10'],
    ['{"id":"a",', CUT, 'its end at column 11'],
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
    ['{"id":1},', WHOLE, ', at column 9'],
    ['{"id":1}{"id":2}', WHOLE, '{"id":2} at column 9'],
    ['{"id":1} {"id":2}', WHOLE, '{"id":2} at column 10'],
    ['ticketId,orderId,listPrice', CSV, 'ticketId,orderId,listPrice'],
    ['"ticketId";"orderId"', CSV, '"ticketId";"orderId"'],
    ['tkt_1\tord_1', CSV, 'tkt_1\ufffdord_1'],
    [String.raw`{"title":"a \\"b\\" c"}`, COPY, 'b at column 16'],
    [String.raw`{"title":"\\"b\\""}`, COPY, 'b at column 14'],
    [String.raw`{"a":"5\\", 6\\""}`, COPY, '6 at column 13'],
    ["{'id':'a'}", QUOTES, "'id':'a'} at column 2"],
    ['{id:1}', QUOTES, 'id at column 2'],
    ['{"transferable":True}', QUOTES, 'True at column 17'],
    ['{"id":1,}', COMMA, '} at column 9'],
    ['{"tags":["a",]}', COMMA, ']} at column 14'],
    ['{"title":"a\tb"}', CONTROL, '\ufffdb"} at column 12'],
    ['{"id":01}', PLAIN, '01 at column 7'],
    ['{"price":1,50}', PLAIN, '50 at column 12'],
    ['{"id" 1}', PLAIN, '1 at column 7'],
    ['{"id":"\\x"}', PLAIN, '\\x"} at column 8'],
    ['{"a":[1}', PLAIN, '} at column 8'],
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
        expect(malformed(cut).found).to.equal(`its end at column ${cut.length + 1}`);
      }),
      { seed: 13 },
    );
  });

  it('is explained however long it is, and however deep', () => {
    expect(malformed(`{"a":"${'x'.repeat(10_000_000)}`).found).to.equal('its end at column 10000007');
    expect(malformed(`{"a":${'['.repeat(1_000_000)}`).reason).to.match(CUT);
    expect(malformed(`{${' '.repeat(1_000_000)}'`).reason).to.match(QUOTES);
  });
});
