import { expect } from 'chai';
import { describeWarning } from '../../../src/snapshot/builder/import/rules.ts';
import { build, type Import, toLine, writeImport } from '../../support/import-folder.ts';
import { inOrganization, minimalEvent, minimalOrder, minimalSession, times } from '../../support/records.ts';
import { folderForEach } from '../../support/temporary-folder.ts';

describe('A build', () => {
  const inFolder = folderForEach();
  const own = inOrganization('org');
  const MINIMAL = {
    organizations: [{ organizationId: 'org' }],
    events: [own(minimalEvent('evt'))],
    sessions: [own(minimalSession('ses', 'evt'))],
  };

  async function reportOf(files: Import) {
    writeImport(inFolder('import'), { ...MINIMAL, ...files });
    const { warnings, dropped } = await build(inFolder('import'), inFolder('snapshot.sqlite'));
    return { warnings: warnings.map(describeWarning), dropped: [...dropped.keys()] };
  }

  it('warns of undeclared fields that resemble a declared one without a value', async () => {
    const organizations = [{ organizationId: 'org', displayName: 'A' }];
    const placedItems = [{ quantity: 1 }, { paidPrice: 2, unitPrice: 3 }, { paidPrice: 2 }];
    const orders = [
      own(minimalOrder('a', { 'discount-code': 'X', discountCode: 'Y', colour: 'red' })),
      own(minimalOrder('b', { 'discount-code': 'X', discountCode: null })),
      own(minimalOrder('c', { 'discount-code': 'X', placedItems })),
    ];
    expect(await reportOf({ organizations, orders })).to.deep.equal({
      warnings: [
        'organizations.ndjson: displayName is not a field (did you mean name?): 1 record, first: line 1',
        'orders.ndjson: discount-code is not a field (did you mean discountCode?): 2 records, first: line 2',
        'orders.ndjson: placedItems.paidPrice is not a field (did you mean unitPaidPrice?): 2 records, first: line 3',
      ],
      dropped: [
        'organizations.ndjson: displayName',
        'orders.ndjson: discount-code',
        'orders.ndjson: colour',
        'orders.ndjson: placedItems.paidPrice',
      ],
    });
  });

  it('warns of keys that an object has twice, however they are written', async () => {
    const lines = [
      '{"ORDER","delivery":{"type":"on_site","pickupPoint":{"a":{"b":1},"b":{"c":[{},{"d":1,"d" :2}]}}}}',
      '{"status":"CANCELLED","ORDER"}',
      '{"ORDER","status":"CANCELLED"}',
      String.raw`{"ORDER","discountCode":"\",\"status\":","placedItems":[{"quantity":1},{"quantity":2}]}`,
      '{"ORDER","billingAddress":null}',
    ];
    const orders = lines.map((line, i) =>
      line.replace('"ORDER"', String(toLine(own(minimalOrder(`ord_${i}`)))).slice(1, -1)),
    );
    const { warnings } = await reportOf({ orders });
    expect(warnings).to.deep.equal([
      'orders.ndjson: the key "d" occurs twice in an object: 1 record, first: line 1',
      'orders.ndjson: the key "status" occurs twice in an object: 2 records, first: line 2',
    ]);
  });

  it('finds a key that every line of a large file has twice, in every line of the first block', async () => {
    const events = times(3000, (i) =>
      String(toLine(own(minimalEvent(`evt_${i}`)))).replace('"currency"', '"currency":"EUR","currency"'),
    );
    const sessions = times(3000, (i) => own(minimalSession(`ses_${i}`, `evt_${i}`)));
    const { warnings } = await reportOf({ events, sessions });
    expect(warnings).to.have.length(1);
    expect(warnings[0]).to.match(
      /the key "currency" occurs twice in an object: \d{4} records, first: line 1$/,
    );
  });
});
