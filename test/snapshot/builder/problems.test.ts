import { expect } from 'chai';
import { parseLine } from '../../../src/snapshot/builder/import/problems.ts';

const OBJECT = 'must be a JSON object';
const CSV = 'must be a JSON object: convert CSV to NDJSON, see docs/data.md';
const WHOLE =
  "must be one whole JSON object: split an array with jq -c '.[]', join indented lines with jq -c .";

describe('A line that is not a JSON object', () => {
  for (const [line, reason, found] of [
    ['{"id":1,"price":NaN}', OBJECT, `Unexpected token 'N', "{"id":1,"price":NaN}"`],
    ['{"id":"a","title":"Ça', OBJECT, 'Unterminated string at column 22'],
    ['{"id":"a"\r', OBJECT, `Expected ',' or '}' after property value at column 10`],
    ['{"id":1}{"id":2}', OBJECT, 'Unexpected non-whitespace character after JSON at column 9'],
    [' {"id":1,}', OBJECT, 'Expected double-quoted property name at column 10'],
    ['hello', OBJECT, 'hello'],
    ['null', OBJECT, 'null'],
    ['"text"', OBJECT, '"text"'],
    ['{', WHOLE, '{'],
    ['},', WHOLE, '},'],
    ['  "title": "Concert",', WHOLE, '"title": "Concert",'],
    ['[{"id":1},{"id":2}]', WHOLE, '[{"id":1},{"id":2}]'],
    ['ticketId,orderId,listPrice', CSV, 'ticketId,orderId,listPrice'],
    ['"ticketId";"orderId"', CSV, '"ticketId";"orderId"'],
    ['tkt_1\tord_1', CSV, 'tkt_1\ufffdord_1'],
    ['{\0"\0i\0', 'must be UTF-8, not UTF-16', '{\ufffd"\ufffdi\ufffd'],
  ] as const) {
    it(`is explained: ${JSON.stringify(line)}`, () => {
      expect(parseLine(line)).to.deep.equal({ problem: { field: '', reason, found } });
    });
  }

  it('is explained however long it is, and however deep', () => {
    expect(parseLine(`{"a":"${'x'.repeat(10_000_000)}`)).to.have.nested.property(
      'problem.found',
      'Unterminated string at column 10000007',
    );
    expect(parseLine(`{"a":${'['.repeat(1_000_000)}`)).to.have.nested.property(
      'problem.found',
      'Unexpected end of JSON input',
    );
  });
});
