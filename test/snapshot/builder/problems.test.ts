import { expect } from 'chai';
import { IMPORT_FILES } from '../../../src/snapshot/builder/import/import-files.ts';
import { parseLine, quoted, similarName } from '../../../src/snapshot/builder/import/problems.ts';

const OBJECT = 'must be a JSON object';
const CSV = 'must be a JSON object: convert CSV to NDJSON, see docs/data.md';
const WHOLE =
  "must be one whole JSON object: split an array with jq -c '.[]', join indented lines with jq -c .";
const DOUBLED = `${OBJECT}: backslashes are doubled: export by COPY WITH (FORMAT csv, QUOTE E'\\x01', DELIMITER E'\\x02'), or by mysql --raw`;
const SEPARATOR = "must not begin with a record separator of RFC 7464: remove it with tr -d '\\036'";
const MARK = String.raw`must not begin with a byte order mark: remove it with sed 's/^\xEF\xBB\xBF//'`;

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
    ['\u001e{"id":1}', SEPARATOR, '\ufffd{"id":1}'],
    ['\ufeff{"id":1}', MARK, '{"id":1}'],
    [
      String.raw`{"title":"Le \\"Misanthrope\\""}`,
      DOUBLED,
      "Expected ',' or '}' after property value at column 17",
    ],
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

describe('A value in a message', () => {
  it('is its beginning as JSON, without control characters', () => {
    const value = `\u001b]0;\u202e\u0085${'x'.repeat(100_000)}`;
    expect(quoted(value)).to.equal(`"\\u001b]0;\ufffd\ufffd${'x'.repeat(48)}…`);
  });
});

describe('The name that resembles', () => {
  const FIELDS = ['ticketId', 'listPrice', 'finalPaidPrice', 'priceLabel', 'vat', 'eventSessionStartAt'];
  const NAMES: readonly [known: readonly string[], similar: string | undefined, ...names: string[]][] = [
    [IMPORT_FILES, 'tickets', 'ticket', 'tikets', 'Tickets', 'tickets-2'],
    [IMPORT_FILES, 'orders', 'oders'],
    [IMPORT_FILES, 'organizations', 'organisation'],
    [IMPORT_FILES, 'sessions', 'event_sessions'],
    [IMPORT_FILES, undefined, 'customers', 'seasons', 'venues', 'order_items', 'README'],
    [FIELDS, 'listPrice', 'list_price', 'price'],
    [FIELDS, 'finalPaidPrice', 'paidPrice'],
    [FIELDS, 'ticketId', 'ticketID'],
    [FIELDS, 'vat', 'VAT'],
    [FIELDS, 'eventSessionStartAt', 'eventSesionStartsAt'],
    [FIELDS, undefined, 'tax', 'at', '', '---'],
  ];
  for (const [known, similar, ...names] of NAMES) {
    it(`${names.join(', ')} is ${similar}`, () => {
      for (const name of names) expect(similarName(name, known), name).to.equal(similar);
    });
  }
});
