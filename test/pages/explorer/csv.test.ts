import { expect } from 'chai';
import fc from 'fast-check';
import { openApiDocument } from '../../../src/contract/openapi/document.ts';
import { RELEASES } from '../../../src/contract/releases.ts';
import { Contract, type OpenApi } from '../../../src/pages/explorer/contract.js';
import { columnsOf, csvEncoder } from '../../../src/pages/explorer/csv.js';

const contract = new Contract(JSON.parse(JSON.stringify(openApiDocument(RELEASES, undefined))) as OpenApi);

describe('A list as CSV', () => {
  const columnsIn = (name: string) => columnsOf(contract, contract.list(name).record);

  /** Returns the row of a record that has the values in its only fields. */
  function rowOf(...values: readonly unknown[]): string {
    const encode = csvEncoder([...values.keys()].map(String), false);
    encode('');
    return encode(`${JSON.stringify(Object.fromEntries(values.entries()))}\n`);
  }

  it('has a column for each scalar of the contract, and one for each list', () => {
    expect(columnsIn('sessions')).to.deep.equal(['id', 'startAt', 'durationMinutes']);
    expect(columnsIn('tickets'))
      .to.include.members(['ticketId', 'qrCode', 'customer.email', 'attendeeForm.responses'])
      .and.not.include.members(['customer', 'attendeeForm']);
    expect(columnsIn('orders')).to.include.members(['placedItems', 'delivery.homeDeliveryAddress.city']);
    // Its fields are those of the import.
    expect(columnsIn('orders')).to.include('delivery.pickupPoint');
  });

  it('has the columns of all types of offers, each once', () => {
    const columns = columnsIn('offers');
    expect(columns).to.include.members(['eventId', 'variantOptionLabels.option1', 'contains', 'pricing']);
    expect(columns).to.deep.equal([...new Set(columns)]);
  });

  it('quotes separators, doubles quotes, and tells an empty text from null', () => {
    expect(rowOf('a,b', 'say "x"', 'a\nb', '', null, 'plain')).to.equal(
      '"a,b","say ""x""","a\nb","",,plain\r\n',
    );
    expect(rowOf(['a', 'b'], [], true)).to.equal('"[""a"",""b""]",[],true\r\n');
  });

  it('has no text that a spreadsheet takes for a formula, and keeps numbers', () => {
    expect(rowOf('=1', '+33', '-1', '@a', '\t=1', '\r=1', ' =1', '＝1')).to.equal(
      `'=1,'+33,'-1,'@a,'\t=1,"'\r=1",' =1,'＝1\r\n`,
    );
    expect(rowOf(-1.5, 0, 1e300, 'a=1')).to.equal('-1.5,0,1e+300,a=1\r\n');
  });

  it('begins with its header, after a byte order mark on request, also without records', () => {
    expect(csvEncoder(['a', 'b.c'], false)('')).to.equal('a,b.c\r\n');
    expect(csvEncoder(['a', 'b.c'], true)('')).to.equal('\uFEFFa,b.c\r\n');
  });

  it('does not depend on the parts in which its stream arrives', () => {
    const lines = '{"a":"é,1","b":{"c":"x"}}\n{"a":null,"b":null}\n';
    fc.assert(
      fc.property(fc.array(fc.nat(lines.length)), (cuts) => {
        const ends = [0, ...cuts.sort((a, b) => a - b), lines.length];
        const encode = csvEncoder(['a', 'b.c'], false);
        const parts = ends.map((end, i) => encode(lines.slice(ends[i - 1] ?? 0, end)));
        expect(parts.join('')).to.equal('a,b.c\r\n"é,1",x\r\n,\r\n');
      }),
    );
  });
});
