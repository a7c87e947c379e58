import { expect } from 'chai';
import { inspectSnapshot } from '../../../src/snapshot/load/read-snapshot.ts';
import { keyNumbers } from '../../../src/store/index/posting-index.ts';
import { NextSessions } from '../../../src/store/next-sessions.ts';
import type { CollectionImage } from '../../../src/store/organization-image.ts';
import { recordAt } from '../../../src/store/records.ts';
import {
  FULL_ADDRESS,
  FULL_BUNDLE_OFFER,
  FULL_EVENT,
  FULL_EVENT_IMPORTED,
  FULL_ORDER,
  FULL_PRODUCT_OFFER,
  FULL_SESSION,
  FULL_TICKET,
  FULL_TICKET_OFFER,
  inOrganization,
  minimalEvent,
  minimalOffer,
  minimalOrder,
  minimalPricing,
  minimalSession,
  minimalStock,
  minimalTicket,
} from '../../support/records.ts';
import {
  type ImportRecord,
  organizationOf,
  recordsOf,
  textsOf,
  type OrganizationContent,
} from '../../support/import-folder.ts';
import { Builds, type BuiltFile } from '../builds.ts';

const VENUE = { addressLine1: 'a', city: 'Oslo', postalCode: 'b', countryCode: 'NO' };
const PRODUCT_STOCK = { inventoryId: 'i', totalStock: 1, availableStock: 0, weightInGrams: 2 };

describe('A built snapshot contains', () => {
  const { build } = new Builds();
  const ours = inOrganization('ours');
  let built: BuiltFile;
  let image: OrganizationContent;

  before(async () => {
    built = await build({
      organizations: [
        { organizationId: 'theirs', name: 'Eux', colour: 'red' },
        { organizationId: 'ours', name: 'Nous' },
        { organizationId: 'nameless' },
      ],
      events: [
        ours({ ...FULL_EVENT_IMPORTED, sessionCount: 7, nextSessionId: 12, secret: 1 }),
        ours(minimalEvent('evt_venue', { venueAddress: { ...VENUE, planet: 'Earth' } })),
      ],
      sessions: [
        ours({ ...FULL_SESSION, eventId: 'evt full', room: 1 }),
        ours(minimalSession('ses_0', 'evt full', { startAt: '2027-03-14T21:30:00+03:00' })),
        ours(minimalSession('ses_3', 'evt full', { startAt: '2027-03-14T20:00:00Z' })),
        ours(minimalSession('ses_venue', 'evt_venue')),
      ],
      tickets: [
        ours(FULL_TICKET),
        ours(minimalTicket('empty', { seatingInfo: {}, customer: {}, attendeeForm: {} })),
        ours(minimalTicket('form', { attendeeForm: { responses: [{}], pages: 2 } })),
      ],
      orders: [
        ours(FULL_ORDER),
        ours(
          minimalOrder('parts', {
            customer: { customerId: 'c', email: 'A@B.C', vip: true },
            billingAddress: { ...required(FULL_ADDRESS), type: 'personal' },
            delivery: { type: 'home_delivery', homeDeliveryAddress: { ...required(FULL_ADDRESS) } },
            placedItems: [
              {},
              { eventId: 'evt_2' },
              { eventId: 'evt_1' },
              { eventId: 'evt_2', colour: 'red' },
            ],
            optIns: [{}],
            addOns: [{ colour: 'red' }],
          }),
        ),
        ours(minimalOrder('delivery', { delivery: { type: 'on_site', pickupPoint: {} } })),
        ours(minimalOrder('halves', { placedItems: [{ eventId: '\ud800' }, { eventId: '\ud801' }] })),
      ],
      offers: [
        ours({ ...FULL_TICKET_OFFER, heldByEventIds: ['evt_min'] }),
        ours({
          ...FULL_PRODUCT_OFFER,
          heldByEventIds: ['evt_min', 'evt full', 'evt_min'],
          eventId: 'evt_null',
        }),
        ours(FULL_BUNDLE_OFFER),
        ours(
          minimalOffer('parts', 'TICKET', {
            pricing: [minimalPricing('p')],
            inventory: [minimalStock('ses_0')],
          }),
        ),
        ours(
          minimalOffer('product_parts', 'PRODUCT', {
            variantOptionLabels: {},
            pricing: [minimalPricing('p')],
            inventory: [PRODUCT_STOCK],
          }),
        ),
      ],
    });
    image = organizationOf(built.image, 'ours');
  });

  const text = (collection: CollectionImage, id: string) =>
    JSON.stringify(recordsOf(collection).get(id) ?? `no ${id}`);

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
      expect(text(image[collection], String(Object.values(record)[0]))).to.equal(JSON.stringify(record));
    });
  }

  it('the next session of an event at a given time', () => {
    const event = textsOf(image.events).findIndex((record) => record.startsWith('{"id":"evt full"'));
    const { schedule } = image.lists.events;
    const next = new NextSessions(schedule).of(event, Date.parse('2027-03-14T18:30:00Z'));
    expect(recordAt(schedule.nextFields, next).toString()).to.equal(
      ',"nextSessionStartAt":"2027-03-14T20:00:00+01:00","nextSessionId":"ses/2"}',
    );
  });

  it('the start of a session with an offset in place of Z', () => {
    expect(text(image.sessions, 'ses_3')).to.equal(
      '{"id":"ses_3","startAt":"2027-03-14T20:00:00+00:00","durationMinutes":0}',
    );
  });

  it('every documented key of a present object', () => {
    const nothing = { blocName: null, seatRow: null, seatNumber: null };
    expect(recordsOf(image.events).get('evt_venue')).to.deep.include({
      venueAddress: { ...VENUE, addressLine2: null },
    });
    expect(recordsOf(image.tickets).get('empty')).to.deep.include({
      seatingInfo: nothing,
      customer: emptied(FULL_TICKET.customer),
      attendeeForm: emptied(FULL_TICKET.attendeeForm),
    });
    expect(recordsOf(image.tickets).get('form')).to.deep.include({
      attendeeForm: { formId: null, submittedAt: null, responses: [{ fieldId: null, value: [] }] },
    });
    const address = { ...emptied(FULL_ADDRESS), ...required(FULL_ADDRESS) };
    const noItem = emptied(FULL_ORDER.placedItems[0]);
    expect(recordsOf(image.orders).get('parts')).to.deep.include({
      customer: { customerId: 'c', email: 'A@B.C', firstName: null, lastName: null },
      billingAddress: { ...address, type: 'personal' },
      delivery: { ...emptied(FULL_ORDER.delivery), type: 'home_delivery', homeDeliveryAddress: address },
      placedItems: [
        noItem,
        { ...noItem, eventId: 'evt_2' },
        { ...noItem, eventId: 'evt_1' },
        { ...noItem, eventId: 'evt_2' },
      ],
      optIns: [{ name: null, accepted: null }],
      addOns: [emptied(FULL_ORDER.addOns[0])],
    });
    expect(recordsOf(image.orders).get('delivery')).to.deep.include({
      delivery: { type: 'on_site', carrierId: null, homeDeliveryAddress: null, pickupPoint: {} },
    });
    const { resaleEnabled, ...pricing } = minimalPricing('p', { bundleOfferId: null });
    const options = { option1: null, option2: null, option3: null };
    expect(recordsOf(image.offers).get('parts')).to.deep.include({
      pricing: [{ ...pricing, resaleEnabled }],
      inventory: [minimalStock('ses_0')],
    });
    expect(recordsOf(image.offers).get('product_parts')).to.deep.include({
      variantOptionLabels: options,
      pricing: [pricing],
      inventory: [{ ...PRODUCT_STOCK, ...options }],
    });
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
      'orders.ndjson: placedItems.colour': 1,
      'orders.ndjson: addOns.colour': 1,
      'offers.ndjson: eventId': 1,
      'offers.ndjson: pricing.resaleEnabled': 1,
    });
    expect(JSON.stringify([...recordsOf(image.orders).values()])).to.not.include('red');
  });

  it('ill-formed text as escapes, which no request matches', () => {
    expect(text(image.orders, 'halves')).to.include('"eventId":"\\ud800"').and.include('"eventId":"\\ud801"');
    expect(keyNumbers(image.orders.postings['eventId'], ['\ufffd'])).to.deep.equal([]);
  });

  it('the names of its organizations, by default their ids', () => {
    const { organizations } = inspectSnapshot(built.file);
    expect(organizations.map(({ organizationId, name }) => `${organizationId} ${name}`)).to.deep.equal([
      'nameless nameless',
      'ours Nous',
      'theirs Eux',
    ]);
  });

  it('its production time, a snapshot id, and the records that the report counts', () => {
    expect(built.image.producedAt).to.equal('2026-11-21T12:00:00.000Z');
    expect(built.image.snapshotId)
      .to.equal(built.report.snapshotId)
      .and.match(/^[0-9a-f-]{36}$/);
    expect(built.report).to.deep.include({
      organizations: 3,
      records: { events: 2, sessions: 4, tickets: 3, orders: 4, offers: 5 },
      rejected: 0,
    });
  });
});

/** Returns an object with the keys of `full`: null for each value, [] for each list. */
function emptied(full: ImportRecord): ImportRecord {
  return Object.fromEntries(
    Object.entries(full).map(([name, value]) => [name, Array.isArray(value) ? [] : null]),
  );
}

function required({ type, addressLine1, city, postalCode, countryCode }: typeof FULL_ADDRESS): ImportRecord {
  return { type, addressLine1, city, postalCode, countryCode };
}
