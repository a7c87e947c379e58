import { readdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect } from 'chai';
import { type BuildOptions, SuspectImport } from '../../../src/snapshot/builder/build-snapshot.ts';
import { describeWarning, type Warning } from '../../../src/snapshot/builder/import/rules.ts';
import { reviewSnapshot } from '../../../src/snapshot/builder/review-snapshot.ts';
import { type Import, PRODUCED_AT, toLine } from '../../support/import-folder.ts';
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
import { refusalOf } from '../../support/refusal.ts';
import { SMALL_IMPORT } from '../../support/small-import.ts';
import { Builds } from '../builds.ts';

describe('The review of records', () => {
  const { build } = new Builds();

  /** Returns the warnings about a snapshot. Those of its build are the same, but for the first examples. */
  async function warningsOf(files: Import, options: Partial<BuildOptions> = {}): Promise<string[]> {
    const { report, file } = await build({ ...sound, ...files }, options);
    const found = reviewSnapshot(file);
    const counted = (each: Warning) => `${each.source} ${each.problem} ${each.count}`;
    expect(report.warnings.map(counted)).to.deep.equal(found.map(counted));
    return found.map(describeWarning);
  }

  const own = inOrganization('org');
  const sound = {
    organizations: [{ organizationId: 'org' }],
    events: [own(minimalEvent('evt'))],
    sessions: [own(minimalSession('ses', 'evt'))],
    offers: [own(minimalOffer('off', 'TICKET', { eventId: 'evt' }))],
    orders: [own(minimalOrder('ord'))],
  };
  const { events, sessions, offers, orders } = sound;
  const known = { eventId: 'evt', eventSessionId: 'ses', orderId: 'ord', offerId: 'off' };
  const ticket = (id: string, more: object = {}) => own(minimalTicket(id, { ...known, qrCode: id, ...more }));

  it('finds nothing in records that keep all rules, null references included', async () => {
    expect(await warningsOf(SMALL_IMPORT)).to.deep.equal([]);
    expect(
      await warningsOf({ tickets: [ticket('a'), ticket('b', { offerId: null, listPrice: 0 })] }),
    ).to.deep.equal([]);
  });

  it('counts an option offer whose pricing is that of another offer', async () => {
    const offer = (id: string, pricingId: string, optionOffers: readonly object[] = []) =>
      own(minimalOffer(id, 'TICKET', { eventId: 'evt', pricing: [minimalPricing(pricingId)], optionOffers }));
    const options = ['p', 'q'].map((pricingId) => ({ offerId: 'a', pricingId }));
    expect(
      await warningsOf({ offers: [offer('a', 'p'), offer('b', 'q'), offer('c', 'r', options)] }),
    ).to.deep.equal([
      'offers: optionOffers[].pricingId names no pricing of the offer: 1 record, first: c (["a","q"]) of org',
    ]);
  });

  it('counts the events with a tag that has a comma', async () => {
    expect(
      await warningsOf({ events: [own(minimalEvent('evt', { tags: ['rock', 'rhythm, blues'] }))] }),
    ).to.deep.equal([
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
      tickets: [ticket('a'), other(minimalTicket('a', { ...known, offerId: null, qrCode: 'a' }))],
    });
    expect(warnings).to.deep.equal(['tickets: orderId names no order: 1 record, first: a ("ord") of other']);
  });

  it('reports unknown currencies, negative prices and repeated QR codes', async () => {
    const currency = (code: string) => own(minimalEvent(code, { currency: code }));
    const codes = ['EUR', 'HRK', 'XCG', 'eur', 'ABC', 'EURO', ''];
    const warnings = await warningsOf({
      events: [...events, ...codes.filter((code) => code !== '').map(currency)],
      sessions: [...sessions, ...codes.map((code) => own(minimalSession(`of ${code}`, code || 'evt')))],
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
    const { report } = await build({ ...sound, tickets });
    expect(report.warnings.map(describeWarning)).to.deep.equal([
      'tickets: orderId names no order: 2 records, first: late ("lost") of org',
    ]);
  });

  it('disregards records that the build leaves out', async () => {
    const files = {
      events: [...events, own(minimalEvent('without session'))],
      tickets: [ticket('a'), ticket('a'), ticket('b', { eventId: 'without session' })],
    };
    expect(await warningsOf(files, { skipInvalid: true })).to.deep.equal([
      'tickets: eventId names no event: 1 record, first: b ("without session") of org',
    ]);
  });

  it('refuses a strict build unless all rules are kept, and leaves no file', async () => {
    const { file } = await build({ ...sound, tickets: [ticket('a')] }, { isStrict: true });
    const former = readFileSync(file);
    const files = { ...sound, tickets: [ticket('a', { orderId: 'gone' })] };
    const { warnings } = await refusalOf(build(files, { isStrict: true, output: file }), SuspectImport);
    expect(warnings.map(({ problem }) => problem)).to.deep.equal(['orderId names no order']);
    expect(readFileSync(file).equals(former)).to.equal(true);
    expect(readdirSync(dirname(file)).filter((name) => !name.endsWith('.ndjson'))).to.deep.equal([
      'snapshot.sqlite',
    ]);
  });

  it('is part of a build with a base only if it is strict', async () => {
    const base = await build(sound);
    const buildChanges = (isStrict: boolean) =>
      build(
        { tickets: [ticket('a', { orderId: 'gone' }), ticket('b')] },
        { base: base.file, producedAt: new Date(PRODUCED_AT.getTime() + 1), isStrict },
      );
    const WARNINGS = ['tickets: orderId names no order: 1 record, first: a ("gone") of org'];
    const { warnings } = await refusalOf(buildChanges(true), SuspectImport);
    expect(warnings.map(describeWarning)).to.deep.equal(WARNINGS);
    const { report, file } = await buildChanges(false);
    expect(report.warnings).to.deep.equal([]);
    expect(reviewSnapshot(file).map(describeWarning)).to.deep.equal(WARNINGS);
  });

  it('finds a record in any of many runs', async () => {
    const tickets = times(5000, (i) => ticket(`t${i}`, i === 4321 ? { orderId: 'gone' } : {}));
    expect(await warningsOf({ tickets })).to.deep.equal([
      'tickets: orderId names no order: 1 record, first: t4321 ("gone") of org',
    ]);
  });

  async function reportOf(files: Import) {
    const { warnings, dropped } = (await build({ ...sound, ...files })).report;
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
    const { warnings } = await reportOf({ events, sessions, offers: [] });
    expect(warnings).to.have.length(1);
    expect(warnings[0]).to.match(
      /the key "currency" occurs twice in an object: \d{4} records, first: line 1$/,
    );
  });
});
