import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { type BuildOptions, SuspectImport } from '../../../src/snapshot/builder/build-snapshot.ts';
import { describeWarning, type Warning } from '../../../src/snapshot/builder/import/rules.ts';
import { reviewSnapshot } from '../../../src/snapshot/builder/review-snapshot.ts';
import { build, type Import, PRODUCED_AT, toLine, writeImport } from '../../support/import-folder.ts';
import {
  inOrganization,
  minimalEvent,
  minimalOffer,
  minimalOrder,
  minimalPricing,
  minimalSession,
  minimalStock,
  minimalTicket,
  times,
} from '../../support/records.ts';
import { SMALL_IMPORT } from '../../support/small-import.ts';
import { folderForEach } from '../../support/temporary-folder.ts';

describe('The review of records', () => {
  const inFolder = folderForEach();

  /** Returns the warnings about a snapshot. Those of its build are the same, but for the first examples. */
  async function warningsOf(files: Import, options: Partial<BuildOptions> = {}): Promise<string[]> {
    writeImport(inFolder('import'), files);
    const { warnings } = await build(inFolder('import'), inFolder('snapshot.sqlite'), options);
    const found = reviewSnapshot(inFolder('snapshot.sqlite'));
    const counted = (each: Warning) => `${each.source} ${each.problem} ${each.count}`;
    expect(warnings.map(counted)).to.deep.equal(found.map(counted));
    return found.map(describeWarning);
  }

  const own = inOrganization('org');
  const organizations = [{ organizationId: 'org' }];
  const events = [own(minimalEvent('evt'))];
  const sessions = [own(minimalSession('ses', 'evt'))];
  const offers = [own(minimalOffer('off', 'TICKET', { eventId: 'evt' }))];
  const orders = [own(minimalOrder('ord'))];
  const known = { eventId: 'evt', eventSessionId: 'ses', orderId: 'ord', offerId: 'off' };
  const ticket = (id: string, more: object = {}) => own(minimalTicket(id, { ...known, qrCode: id, ...more }));

  it('finds nothing in records that keep all rules, null references included', async () => {
    expect(await warningsOf(SMALL_IMPORT)).to.deep.equal([]);
    const tickets = [ticket('a'), ticket('b', { offerId: null, listPrice: 0 })];
    const files = { organizations, events, sessions, orders, offers, tickets };
    expect(await warningsOf(files)).to.deep.equal([]);
  });

  it('counts an option offer whose pricing is that of another offer', async () => {
    const offer = (id: string, pricingId: string, optionOffers: readonly object[] = []) =>
      own(minimalOffer(id, 'TICKET', { eventId: 'evt', pricing: [minimalPricing(pricingId)], optionOffers }));
    const option = offer('c', 'r', [
      { offerId: 'a', pricingId: 'p' },
      { offerId: 'a', pricingId: 'q' },
    ]);
    const files = { organizations, events, sessions, offers: [offer('a', 'p'), offer('b', 'q'), option] };
    expect(await warningsOf(files)).to.have.lengthOf(1);
    expect((await warningsOf(files))[0]).to.match(
      /^offers: optionOffers\[\]\.pricingId names no pricing of the offer: 1 record, first: c /,
    );
  });

  it('counts the events with a tag that has a comma', async () => {
    const tagged = [own(minimalEvent('evt', { tags: ['rock', 'rhythm, blues'] }))];
    expect(await warningsOf({ organizations, events: tagged, sessions })).to.deep.equal([
      'events: tags has a comma, so that no filter finds it: 1 record, first: evt ("rhythm, blues") of org',
    ]);
  });

  it('counts the records whose references name no record, with the first in list order', async () => {
    const tickets = [
      ...times(3, (i) => ticket(`t${i}`, { orderId: `ord_${i}`, issuedAt: `2026-01-0${9 - i}T00:00:00Z` })),
      ticket('t4', { eventId: 'ses', eventSessionId: 'evt', offerId: '' }),
    ];
    const lost = { offerId: 'off_9', eventId: 'evt_9', sessionId: 'ses_9' };
    const placedItems = [{ offerId: 'off', eventId: 'evt', sessionId: 'ses' }, lost, lost];
    const bundle = minimalOffer('bundle', 'BUNDLE', {
      contains: ['off', 'zoé "é"'].map((offerId) => ({ offerId, quantity: 1, price: 0 })),
    });
    const option = {
      eventId: 'evt_8',
      optionOffers: ['p', 'q'].map((pricingId) => ({
        offerId: pricingId === 'p' ? 'priced' : 'off_8',
        pricingId,
      })),
      inventory: [minimalStock('ses_8')],
      pricing: ['bundle', null, 'off_7'].map((bundleOfferId) => minimalPricing('r', { bundleOfferId })),
    };
    const priced = minimalOffer('priced', 'TICKET', { eventId: 'evt', pricing: [minimalPricing('p')] });
    const warnings = await warningsOf({
      organizations,
      events,
      sessions,
      tickets,
      orders: [...orders, own(minimalOrder('ord_x', { placedItems }))],
      offers: [...offers, own(bundle), own(priced), own(minimalOffer('option', 'TICKET', option))],
    });
    expect(warnings).to.have.members([
      'tickets: orderId names no order: 3 records, first: t0 ("ord_0") of org',
      'tickets: eventId names no event: 1 record, first: t4 ("ses") of org',
      'tickets: eventSessionId names no session: 1 record, first: t4 ("evt") of org',
      'tickets: offerId names no offer: 1 record, first: t4 ("") of org',
      'orders: placedItems[].offerId names no offer: 1 record, first: ord_x ("off_9") of org',
      'orders: placedItems[].eventId names no event: 1 record, first: ord_x ("evt_9") of org',
      'orders: placedItems[].sessionId names no session: 1 record, first: ord_x ("ses_9") of org',
      'offers: contains[].offerId names no offer: 1 record, first: bundle ("zoé \\"é\\"") of org',
      'offers: eventId names no event: 1 record, first: option ("evt_8") of org',
      'offers: optionOffers[].offerId names no offer: 1 record, first: option ("off_8") of org',
      'offers: optionOffers[].pricingId names no pricing of the offer: 1 record, first: option (["off_8","q"]) of org',
      'offers: inventory[].sessionId names no session: 1 record, first: option ("ses_8") of org',
      'offers: pricing[].bundleOfferId names no offer: 1 record, first: option ("off_7") of org',
    ]);
  });

  it('does not take the records of another organization for those of its own', async () => {
    const other = inOrganization('other');
    const warnings = await warningsOf({
      organizations: [{ organizationId: 'org' }, { organizationId: 'other' }],
      events: [...events, other(minimalEvent('evt'))],
      sessions: [...sessions, other(minimalSession('ses', 'evt'))],
      orders,
      offers,
      tickets: [ticket('a'), other(minimalTicket('a', { ...known, offerId: null, qrCode: 'a' }))],
    });
    expect(warnings).to.deep.equal(['tickets: orderId names no order: 1 record, first: a ("ord") of other']);
  });

  it('reports unknown currencies, negative prices and repeated QR codes', async () => {
    const currency = (code: string) => own(minimalEvent(code, { currency: code }));
    const codes = ['EUR', 'HRK', 'XCG', 'eur', 'ABC', 'EURO', ''];
    const warnings = await warningsOf({
      organizations,
      events: [...events, ...codes.filter((code) => code !== '').map(currency)],
      sessions: [...sessions, ...codes.map((code) => own(minimalSession(`of ${code}`, code || 'evt')))],
      offers,
      orders: [
        ...orders,
        own(minimalOrder('ord_x', { placedItems: [{ unitPrice: 1 }, { unitPrice: -0.5 }] })),
      ],
      tickets: [
        ticket('a', { listPrice: -1, currency: '' }),
        ticket('b', { qrCode: 'a' }),
        ticket('c', { qrCode: 'a', vat: -1 }),
      ],
    });
    expect(warnings).to.deep.equal([
      'events: currency is no currency code of ISO 4217: 3 records, first: ABC ("ABC") of org',
      'tickets: qrCode is that of an earlier record: 2 records, first: b ("a") of org',
      'tickets: listPrice is negative: 1 record, first: a (-1) of org',
      'tickets: currency is no currency code of ISO 4217: 1 record, first: a ("") of org',
      'orders: placedItems[].unitPrice is negative: 1 record, first: ord_x (-0.5) of org',
    ]);
  });

  it('gives the first record in the order of the lines in a build', async () => {
    const tickets = [
      ticket('late', { orderId: 'lost', issuedAt: '2026-01-01T00:00:00Z' }),
      ticket('early', { orderId: 'gone', issuedAt: '2026-02-01T00:00:00Z' }),
    ];
    writeImport(inFolder('import'), { organizations, events, sessions, offers, orders, tickets });
    const { warnings } = await build(inFolder('import'), inFolder('snapshot.sqlite'));
    expect(warnings.map(describeWarning)).to.deep.equal([
      'tickets: orderId names no order: 2 records, first: late ("lost") of org',
    ]);
  });

  it('disregards records that the build leaves out', async () => {
    const files = {
      organizations,
      events: [...events, own(minimalEvent('without session'))],
      sessions,
      offers,
      orders,
      tickets: [ticket('a'), ticket('a'), ticket('b', { eventId: 'without session' })],
    };
    expect(await warningsOf(files, { skipInvalid: true })).to.deep.equal([
      'tickets: eventId names no event: 1 record, first: b ("without session") of org',
    ]);
  });

  it('refuses a strict build unless all rules are kept, and leaves no file', async () => {
    const files = { organizations, events, sessions, offers, orders };
    const strict = { isStrict: true };
    expect(await warningsOf({ ...files, tickets: [ticket('a')] }, strict)).to.deep.equal([]);
    const output = inFolder('snapshot.sqlite');
    const former = readFileSync(output);
    const error: unknown = await warningsOf(
      { ...files, tickets: [ticket('a', { orderId: 'gone' })] },
      strict,
    ).catch((reason: unknown) => reason);
    if (!(error instanceof SuspectImport)) throw error;
    expect(error.warnings.map(({ problem }) => problem)).to.deep.equal(['orderId names no order']);
    expect(readFileSync(output).equals(former)).to.equal(true);
    expect(readdirSync(inFolder(''))).to.have.members(['import', 'snapshot.sqlite']);
  });

  it('is part of a build with a base only if it is strict', async () => {
    writeImport(inFolder('import'), { organizations, events, sessions, offers, orders });
    await build(inFolder('import'), inFolder('base.sqlite'));
    writeImport(inFolder('changes'), { tickets: [ticket('a', { orderId: 'gone' }), ticket('b')] });
    const producedAt = new Date(PRODUCED_AT.getTime() + 1);
    const buildChanges = (isStrict: boolean) =>
      build(inFolder('changes'), inFolder('next.sqlite'), {
        base: inFolder('base.sqlite'),
        producedAt,
        isStrict,
      });
    const error: unknown = await buildChanges(true).catch((reason: unknown) => reason);
    if (!(error instanceof SuspectImport)) throw error;
    const WARNINGS = ['tickets: orderId names no order: 1 record, first: a ("gone") of org'];
    expect(error.warnings.map(describeWarning)).to.deep.equal(WARNINGS);
    expect((await buildChanges(false)).warnings).to.deep.equal([]);
    expect(reviewSnapshot(inFolder('next.sqlite')).map(describeWarning)).to.deep.equal(WARNINGS);
  });

  it('finds a record in any of many runs', async () => {
    const files = { organizations, events, sessions, orders, offers };
    const tickets = times(5000, (i) => ticket(`t${i}`, i === 4321 ? { orderId: 'gone' } : {}));
    expect(await warningsOf({ ...files, tickets })).to.deep.equal([
      'tickets: orderId names no order: 1 record, first: t4321 ("gone") of org',
    ]);
  });

  async function reportOf(files: Import) {
    writeImport(inFolder('import'), { organizations, events, sessions, ...files });
    const { warnings, dropped } = await build(inFolder('import'), inFolder('snapshot.sqlite'));
    return { warnings: warnings.map(describeWarning), dropped: [...dropped.keys()] };
  }

  it('is preceded by warnings of undeclared fields that resemble a declared one without a value', async () => {
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

  it('is preceded by warnings of keys that an object has twice, however they are written', async () => {
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
