import { expect } from 'chai';
import { Random } from '../../../scripts/sample/random.ts';
import { keyNumbers } from '../../../src/store/index/posting-index.ts';
import {
  FULL_BUNDLE_OFFER,
  FULL_EVENT,
  FULL_EVENT_IMPORTED,
  FULL_ORDER,
  FULL_PRODUCT_OFFER,
  FULL_SESSION,
  FULL_TICKET,
  FULL_TICKET_OFFER,
  inOrganization,
  recordsIn,
} from '../../support/records.ts';
import {
  digestsOf,
  organizationOf,
  textsOf,
  type OrganizationContent,
  type Built,
} from '../../support/import-folder.ts';
import { shuffled } from '../../support/random.ts';
import { SMALL_IMPORT } from '../../support/small-import.ts';
import { Builds } from '../builds.ts';

describe('A built snapshot contains', () => {
  const { build } = new Builds();
  const ours = inOrganization('ours');
  const { session, order } = recordsIn('ours');
  let built: Built;
  let image: OrganizationContent;

  before(async () => {
    built = await build({
      organizations: [{ organizationId: 'ours', colour: 'red' }],
      events: [
        ours({
          ...FULL_EVENT_IMPORTED,
          ...{ sessionCount: 7, nextSessionId: 12, secret: 1 },
          venueAddress: { ...FULL_EVENT.venueAddress, planet: 'Earth' },
        }),
      ],
      sessions: [
        ours({ ...FULL_SESSION, eventId: 'evt full', room: 1 }),
        session('ses_0', 'evt full', { startAt: '2027-03-14T21:30:00+03:00' }),
        session('ses_3', 'evt full', { startAt: '2027-03-14T20:00:00Z' }),
      ],
      tickets: [ours({ ...FULL_TICKET, attendeeForm: { ...FULL_TICKET.attendeeForm, pages: 2 } })],
      orders: [
        ours({
          ...FULL_ORDER,
          customer: { ...FULL_ORDER.customer, vip: true },
          placedItems: FULL_ORDER.placedItems.map((item) => ({ ...item, colour: 'red' })),
        }),
        JSON.stringify(order('long', { delivery: { type: 'on_site', pickupPoint: { at: '@' } } })).replace(
          '"@"',
          '[":[1234567890123456789",12.500000000000000000,-0.30000000000000004,100000000000000000000000,4.5E+3,0e-9]',
        ),
        JSON.stringify(order('dropped', { number: '@' })).replace('"@"', '738529527931269425'),
        order('halves', { placedItems: [{ eventId: '\ud800' }, { eventId: '\ud801' }] }),
      ],
      offers: [
        ours({ ...FULL_TICKET_OFFER, heldByEventIds: ['evt_min'] }),
        ours({
          ...FULL_PRODUCT_OFFER,
          heldByEventIds: ['evt_min', 'evt full', 'evt_min'],
          eventId: 'evt_null',
          pricing: FULL_PRODUCT_OFFER.pricing.map((one) => ({ ...one, resaleEnabled: true })),
        }),
        ours(FULL_BUNDLE_OFFER),
      ],
    });
    image = organizationOf(built.image, 'ours');
  });

  const eventSummary = {
    sessionCount: 3,
    firstSessionStartAt: '2027-03-14T21:30:00+03:00',
    lastSessionStartAt: '2027-03-14T20:00:00+00:00',
  };
  for (const [what, collection, record] of [
    [
      'an event, its times in UTC, with the summary of its sessions',
      'events',
      { ...FULL_EVENT, ...eventSummary },
    ],
    ['a session', 'sessions', FULL_SESSION],
    ['a ticket', 'tickets', FULL_TICKET],
    ['an order', 'orders', FULL_ORDER],
    ['a TICKET offer, and no field of another type', 'offers', FULL_TICKET_OFFER],
    ['a PRODUCT offer, and no field of another type', 'offers', FULL_PRODUCT_OFFER],
    ['a BUNDLE offer, and no field of another type', 'offers', FULL_BUNDLE_OFFER],
  ] as const) {
    it(`every field of ${what}`, () => {
      expect(textsOf(image[collection])).to.include(JSON.stringify(record));
    });
  }

  it('numbers of any notation that a double holds', () => {
    expect(textsOf(image.orders).join()).to.include(
      '{"at":[":[1234567890123456789",12.5,-0.30000000000000004,1e+23,4500,0]}',
    );
  });

  it('no undocumented field, and the report counts each by file and path', () => {
    expect(Object.fromEntries(built.report.dropped)).to.deep.equal({
      'organizations.ndjson: colour': 1,
      'events.ndjson: secret': 1,
      'events.ndjson: sessionCount': 1,
      'events.ndjson: nextSessionId': 1,
      'events.ndjson: venueAddress.planet': 1,
      'sessions.ndjson: room': 1,
      'tickets.ndjson: attendeeForm.pages': 1,
      'orders.ndjson: customer.vip': 1,
      'orders.ndjson: number': 1,
      'orders.ndjson: placedItems.colour': 1,
      'offers.ndjson: eventId': 1,
      'offers.ndjson: pricing.resaleEnabled': 1,
    });
  });

  it('ill-formed text as escapes, which no request matches', () => {
    expect(textsOf(image.orders).join()).to.include('"eventId":"\\ud800"').and.include('"eventId":"\\ud801"');
    expect(keyNumbers(image.orders.postings['eventId'], ['\ufffd'])).to.deep.equal([]);
  });
});

describe('The content digest of an organization', () => {
  const { build } = new Builds();

  it('does not depend on the build, the order and form of the lines, dropped fields or other organizations', async () => {
    const random = new Random(7);
    const changed = Object.entries<readonly object[]>(SMALL_IMPORT).map(([file, lines]) => {
      const more = lines.map(
        (line) => ` ${JSON.stringify(Object.fromEntries(Object.entries({ ...line, extra: 1 }).reverse()))}`,
      );
      return [file, shuffled(random, more)] as const;
    });
    const files = Object.fromEntries(changed);
    const [one, other] = [
      await build(SMALL_IMPORT),
      await build({ ...files, organizations: ['{"organizationId":"a"}', ...files['organizations']] }),
    ];
    expect(digestsOf(other.image)).to.deep.include(digestsOf(one.image));
    expect(other.report.snapshotId).to.not.equal(one.report.snapshotId);
  });
});
