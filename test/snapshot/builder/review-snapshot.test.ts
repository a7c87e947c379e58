import { expect } from 'chai';
import { describeWarning, type Warning } from '../../../src/snapshot/builder/import/rules.ts';
import { reviewSnapshot, SuspectImport } from '../../../src/snapshot/builder/review-snapshot.ts';
import { type Import, PRODUCED_AT, toLine } from '../../support/import-folder.ts';
import { minimalPricing, minimalStock, recordsIn, times } from '../../support/records.ts';
import { SMALL_IMPORT } from '../../support/small-import.ts';
import { Builds } from '../builds.ts';

describe('The review of records', () => {
  const { build, errorOf } = new Builds();
  const { event, session, order, offer, ticket: anyTicket } = recordsIn('org');
  const sound = {
    organizations: [{ organizationId: 'org' }],
    events: [event('evt')],
    sessions: [session('ses', 'evt')],
    offers: [offer('off', 'TICKET', { eventId: 'evt' })],
    orders: [order('ord')],
  };
  const { events, sessions, offers, orders } = sound;
  const known = { eventId: 'evt', eventSessionId: 'ses', orderId: 'ord', offerId: 'off' };
  const ticket = (id: string, more: object = {}) => anyTicket(id, { ...known, qrCode: id, ...more });
  const priced = (id: string, pricingId: string, more: object = {}) =>
    offer(id, 'TICKET', { eventId: 'evt', pricing: [minimalPricing(pricingId)], ...more });
  const option = (offerId: string, pricingId: string) => ({ offerId, pricingId });
  const other = recordsIn('other');
  const lost = { offerId: 'off_9', eventId: 'evt_9', sessionId: 'ses_9' };
  // Clocks may differ by five minutes.
  const [latest, late] = ['2026-11-21T13:05:00+01:00', '2026-11-21T13:05:01+01:00'];
  const isLate = 'is after the production of the snapshot: 1 record, first:';
  const currencies = ['EUR', 'HRK', 'XCG', 'eur', 'ABC', 'EURO'];
  /** Events that have the names of their time zones as ids, and no other records. */
  const inZones = (...zones: string[]) => ({
    events: zones.map((eventTimezone) => event(eventTimezone, { eventTimezone })),
    offers: [],
    orders: [],
  });
  /** Orders whose JSON has `ORDER` in place of the required fields. */
  const orderLines = (...lines: string[]) =>
    lines.map((line, i) => line.replace('ORDER', JSON.stringify(order(`ord_${i}`)).slice(1, -1)));

  for (const [what, files, ...expected] of [
    ['finds nothing in a sound import', SMALL_IMPORT],
    [
      'finds nothing in null references',
      { tickets: [ticket('a'), ticket('b', { offerId: null, listPrice: 0 })] },
    ],
    [
      'counts an option offer whose pricing is that of another offer',
      {
        offers: [
          priced('a', 'p'),
          priced('b', 'q'),
          priced('c', 'r', { optionOffers: [option('a', 'p'), option('a', 'q')] }),
        ],
      },
      'offers: optionOffers[].pricingId names no pricing of the offer: 1 record, first: c (["a","q"]) of org',
    ],
    [
      'counts the events with a tag that has a comma',
      { events: [event('evt', { tags: ['rock', 'rhythm, blues'] })] },
      'events: tags has a comma, so that no filter finds it: 1 record, first: evt ("rhythm, blues") of org',
    ],
    [
      'reports ids, QR codes and e-mails that filters do not find',
      {
        events: [...events, event('e,1')],
        sessions: [...sessions, session('ses_1 ', 'e,1'), session('a b', 'evt')],
        orders: [
          ...orders,
          order('\u00a0ord', { customer: { customerId: 'c', email: 'zoe @example.org' } }),
          order('o,2'),
        ],
        tickets: [ticket('a', { qrCode: 'Q,1 ' }), ticket('b', { qrCode: '\tQ2' }), ticket('c, ')],
      },
      'events: id has a comma, so that no filter finds it: 1 record, first: e,1 ("e,1") of org',
      'sessions: id has white space around it, without which no filter finds it: 1 record, first: ses_1  ("ses_1 ") of org',
      'tickets: qrCode has a comma, so that no filter finds it: 2 records, first: a ("Q,1 ") of org',
      'tickets: qrCode has white space around it, without which no filter finds it: 3 records, first: a ("Q,1 ") of org',
      'orders: orderId has a comma, so that no filter finds it: 1 record, first: o,2 ("o,2") of org',
      'orders: orderId has white space around it, without which no filter finds it: 1 record, first: \u00a0ord ("\u00a0ord") of org',
      'orders: customer.email has white space, so that no filter finds it: 1 record, first: \u00a0ord ("zoe @example.org") of org',
    ],
    [
      'counts the records whose references name no record, with the first in list order',
      {
        tickets: [
          ...times(3, (i) =>
            ticket(`t${i}`, { orderId: `ord_${i}`, issuedAt: `2026-01-0${9 - i}T00:00:00Z` }),
          ),
          ticket('t4', { eventId: 'ses', eventSessionId: 'evt', offerId: '' }),
        ],
        orders: [
          ...orders,
          order('ord_x', { placedItems: [{ offerId: 'off', eventId: 'evt', sessionId: 'ses' }, lost, lost] }),
        ],
        offers: [
          ...offers,
          offer('bundle', 'BUNDLE', {
            contains: ['off', 'zoé "é"'].map((offerId) => ({ offerId, quantity: 1, price: 0 })),
          }),
          priced('priced', 'p'),
          priced('option', 'r', {
            eventId: 'evt_8',
            optionOffers: [option('priced', 'p'), option('off_8', 'q')],
            inventory: [minimalStock('ses_8')],
            pricing: ['bundle', null, 'off_7'].map((bundleOfferId) => minimalPricing('r', { bundleOfferId })),
          }),
        ],
      },
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
    ],
    [
      'finds a record among many',
      { tickets: times(5000, (i) => ticket(`t${i}`, i === 4321 ? { orderId: 'gone' } : {})) },
      'tickets: orderId names no order: 1 record, first: t4321 ("gone") of org',
    ],
    [
      'does not take the records of another organization for those of its own',
      {
        organizations: [{ organizationId: 'org' }, { organizationId: 'other' }],
        events: [...events, other.event('evt')],
        sessions: [...sessions, other.session('ses', 'evt')],
        tickets: [ticket('a'), other.ticket('a', { ...known, offerId: null, qrCode: 'a' })],
      },
      'tickets: orderId names no order: 1 record, first: a ("ord") of other',
    ],
    [
      'reports unknown currencies, negative prices and repeated QR codes',
      {
        events: [...events, ...currencies.map((currency) => event(currency, { currency }))],
        sessions: [...sessions, ...currencies.map((code) => session(`of ${code}`, code))],
        orders: [...orders, order('ord_x', { placedItems: [{ unitPrice: 1 }, { unitPrice: -5 }] })],
        tickets: [
          ticket('a', { listPrice: -1, currency: '' }),
          ticket('b', { qrCode: 'a' }),
          ticket('c', { qrCode: 'a', vat: -1 }),
        ],
      },
      'events: currency is no currency code of ISO 4217: 3 records, first: ABC ("ABC") of org',
      'tickets: qrCode is that of an earlier record: 2 records, first: b ("a") of org',
      'tickets: listPrice is negative: 1 record, first: a (-1) of org',
      'tickets: currency is no currency code of ISO 4217: 1 record, first: a ("") of org',
      'orders: placedItems[].unitPrice is negative: 1 record, first: ord_x (-5) of org',
    ],
    [
      'finds nothing in values at their limits',
      {
        events: [event('evt', { eventTimezone: 'Etc/UTC', title: '{VIP} [2027]', updatedAt: latest })],
        sessions: [session('ses', 'evt', { durationMinutes: Number.MAX_SAFE_INTEGER })],
        offers: [
          offer('off', 'TICKET', {
            eventId: 'evt',
            vatRate: 1,
            minQuantityPerOrder: 2,
            maxQuantityPerOrder: 2,
          }),
        ],
        tickets: [
          ticket('a', { currency: 'KWD', listPrice: 12.345, issuedAt: latest, eventSessionStartAt: late }),
          ticket('b', { currency: 'EUR', listPrice: 0.29, finalPaidPrice: 9999999999999.99, vat: 1.66667 }),
          ticket('c', { currency: 'HUF', listPrice: 1e300, finalPaidPrice: 0.01 }),
        ],
      },
    ],
    [
      'reports times after the production of the snapshot',
      {
        events: [event('evt', { createdAt: late, updatedAt: '9999-12-31T23:59:59-00:00' })],
        offers: [...offers, offer('b', 'BUNDLE', { createdAt: late })],
        orders: [order('ord', { createdAt: late, updatedAt: late, fulfilledAt: late, cancelledAt: late })],
        tickets: [
          ticket('a', { issuedAt: late, cancelledAt: late, attendeeForm: { submittedAt: late } }),
          ticket('b', { updatedAt: late }),
        ],
      },
      `events: createdAt ${isLate} evt ("2026-11-21T12:05:01Z") of org`,
      `events: updatedAt ${isLate} evt ("9999-12-31T23:59:59Z") of org`,
      `tickets: issuedAt ${isLate} a ("${late}") of org`,
      `tickets: updatedAt ${isLate} b ("${late}") of org`,
      `tickets: cancelledAt ${isLate} a ("${late}") of org`,
      `tickets: attendeeForm.submittedAt ${isLate} a ("${late}") of org`,
      ...['createdAt', 'fulfilledAt', 'cancelledAt', 'updatedAt'].map(
        (field) => `orders: ${field} ${isLate} ord ("${late}") of org`,
      ),
      `offers: createdAt ${isLate} b ("${late}") of org`,
    ],
    [
      'reports amounts, quantities, rates and names that look wrong',
      {
        sessions: [session('ses', 'evt', { durationMinutes: -1 })],
        events: [event('evt', { title: '{"en": "a"}', venueName: '[{}]' })],
        offers: [
          offer('off', 'TICKET', { eventId: 'evt', vatRate: -0.055 }),
          priced('a', 'p', {
            vatRate: 19,
            minQuantityPerOrder: 2,
            maxQuantityPerOrder: 1,
            pricing: [minimalPricing('p', { price: 0.5 })],
            inventory: [minimalStock('ses', { totalStock: -1 })],
          }),
        ],
        orders: [order('ord', { currency: 'KWD', serviceFees: 0.0005, placedItems: [{ quantity: -2 }] })],
        tickets: [ticket('a', { currency: 'EUR', listPrice: 0.125, finalPaidPrice: 0.1 + 0.2 })],
      },
      'events: title is JSON as text: 1 record, first: evt ("{\\"en\\": \\"a\\"}") of org',
      'events: venueName is JSON as text: 1 record, first: evt ("[{}]") of org',
      'sessions: durationMinutes is negative: 1 record, first: ses (-1) of org',
      'tickets: listPrice has more decimals than the currency: 1 record, first: a (0.125) of org',
      'tickets: finalPaidPrice has more decimals than the currency: 1 record, first: a (0.30000000000000004) of org',
      'orders: serviceFees has more decimals than the currency: 1 record, first: ord (0.0005) of org',
      'orders: placedItems[].quantity is negative: 1 record, first: ord (-2) of org',
      'offers: vatRate is no fraction from 0 to 1: 2 records, first: a (19) of org',
      'offers: maxQuantityPerOrder is below minQuantityPerOrder: 1 record, first: a (1) of org',
      'offers: pricing[].price has more decimals than the currency: 1 record, first: a (0.5) of org',
      'offers: inventory[].totalStock is negative: 1 record, first: a (-1) of org',
    ],
    [
      'is preceded by warnings of undeclared fields that resemble a declared one without a value',
      {
        organizations: [{ organizationId: 'org', displayName: 'A' }],
        orders: [
          ...orders,
          order('a', { 'discount-code': 'X', discountCode: 'Y', colour: 'red' }),
          order('b', { 'discount-code': 'X', discountCode: null }),
          order('c', {
            'discount-code': 'X',
            placedItems: [{ quantity: 1 }, { paidPrice: 2, unitPrice: 3 }, { paidPrice: 2 }],
          }),
        ],
      },
      'organizations.ndjson: displayName is not a field (did you mean name?): 1 record, first: line 1',
      'orders.ndjson: discount-code is not a field (did you mean discountCode?): 2 records, first: line 3',
      'orders.ndjson: placedItems.paidPrice is not a field (did you mean unitPaidPrice?): 2 records, first: line 4',
    ],
    [
      'is preceded by a warning of session starts in UTC where the zone of the event is another',
      {
        ...inZones('Atlantic/Reykjavik', 'Europe/London', 'America/New_York'),
        sessions: [
          session('a', 'Atlantic/Reykjavik', { startAt: '2027-07-01T19:00:00Z' }),
          session('winter', 'Europe/London', { startAt: '2027-01-01T19:00:00Z' }),
          session('summer', 'Europe/London', { startAt: '20270701T1930+00' }),
          session('b', 'America/New_York', { startAt: '2027-01-01T19:00:00-00:00' }),
        ],
      },
      "sessions.ndjson: startAt is in UTC, the event's zone is Europe/London: shown as 19:30 to readers; export local offsets, see docs/data.md#local-times: 2 records, first: line 3",
    ],
    [
      'is not preceded by one if the organization has starts with another offset',
      {
        ...inZones('Europe/London', 'America/New_York'),
        sessions: [
          session('london', 'Europe/London', { startAt: '2027-07-01T19:30:00Z' }),
          session('b', 'America/New_York', { startAt: '2027-01-01T19:00:00-05:00' }),
        ],
      },
    ],
    [
      'is preceded by warnings of keys that an object has twice, however they are written',
      {
        orders: orderLines(
          '{ORDER,"delivery":{"type":"on_site","pickupPoint":{"a":{"b":1},"b":{"c":[{},{"d":1,"d" :2}]}}}}',
          '{"status":"CANCELLED",ORDER}',
          '{ORDER,"status":"CANCELLED"}',
          String.raw`{ORDER,"discountCode":"\",\"status\":","placedItems":[{"quantity":1},{"quantity":2}]}`,
          '{ORDER,"billingAddress":null}',
        ),
      },
      'orders.ndjson: the key "d" occurs twice in an object: 1 record, first: line 1',
      'orders.ndjson: the key "status" occurs twice in an object: 2 records, first: line 2',
    ],
    [
      'is preceded by warnings of line ends whose backslash is doubled',
      {
        orders: [
          ...orders,
          ...orderLines(
            String.raw`{ORDER,"discountCode":"a\nb"}`,
            String.raw`{ORDER,"discountCode":"a\\nb"}`,
          ),
        ],
      },
      String.raw`orders.ndjson: has \\n in place of \n; backslashes are doubled: export by COPY WITH (FORMAT csv, QUOTE E'\x01', DELIMITER E'\x02'), or by mysql --raw: 1 record, first: line 3`,
    ],
  ] satisfies [string, Import, ...string[]][]) {
    it(what, async () => {
      const { report, file } = await build({ ...sound, ...files });
      const found = reviewSnapshot(file);
      // The build gives the first record in the order of the lines, the review of a file that of the list.
      const { lines = [], records = [] } = Object.groupBy(report.warnings, ({ source }) =>
        source.endsWith('.ndjson') ? 'lines' : 'records',
      );
      const counted = ({ source, problem, count }: Warning) => ({ source, problem, count });
      expect(records.map(counted)).to.deep.equal(found.map(counted));
      expect([...lines, ...found].map(describeWarning)).to.have.members(expected);
    });
  }

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

  it('refuses a strict build unless all rules are kept, and with a base compares records only if it is strict', async () => {
    const base = await build({ ...sound, tickets: [ticket('a')] }, { isStrict: true });
    const changes = { tickets: [ticket('a', { orderId: 'gone', updatedAt: late }), ticket('b')] };
    const ofOne = `tickets: updatedAt ${isLate} a ("${late}") of org`;
    const WARNINGS = [ofOne, 'tickets: orderId names no order: 1 record, first: a ("gone") of org'];
    const onBase = { base: base.file, producedAt: new Date(PRODUCED_AT.getTime() + 1) };
    for (const [files, options] of [
      [{ ...sound, ...changes }, { output: base.file }],
      [changes, onBase],
    ] as const) {
      const { warnings } = await errorOf(SuspectImport, files, { ...options, isStrict: true });
      expect(warnings.map(describeWarning)).to.deep.equal(WARNINGS);
    }
    const { report, file } = await build(changes, onBase);
    expect(report.warnings.map(describeWarning)).to.deep.equal([ofOne]);
    expect(reviewSnapshot(file).map(describeWarning)).to.deep.equal(WARNINGS);
  });

  it('finds a key that every line of a large file has twice, in the first 1,000 lines', async () => {
    const twice = times(3000, (i) =>
      String(toLine(event(`evt_${i}`))).replace('"currency"', '"currency":"EUR","currency"'),
    );
    const { report } = await build({
      ...sound,
      events: twice,
      sessions: times(3000, (i) => session(`ses_${i}`, `evt_${i}`)),
      offers: [],
    });
    expect(report.warnings).to.have.length(1);
    expect(describeWarning(report.warnings[0])).to.match(
      /the key "currency" occurs twice in an object: 1000 records, first: line 1$/,
    );
  });
});
