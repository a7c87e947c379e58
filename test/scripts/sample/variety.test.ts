import { join } from 'node:path';
import { expect } from 'chai';
import { DEFAULT_SAMPLE, writeSample } from '../../../scripts/sample/write-sample.ts';
import { folderForAll } from '../../support/temporary-folder.ts';
import { readSample, type Sample } from './sample-folder.ts';

/** Fields of each kind that occur both with a value and with null. */
const NULLABLE = {
  events: 'description imageUrl venueName venueAddress venueAddress.addressLine2',
  tickets: 'cancelledAt seatingInfo attendeeForm customer.firstName customer.lastName',
  orders: `customer.firstName customer.lastName billingAddress billingAddress.companyName billingAddress.vatNumber
    billingAddress.phone billingAddress.addressLine2 discountCode paymentProvider paymentMethod delivery.carrierId
    delivery.homeDeliveryAddress delivery.homeDeliveryAddress.addressLine2 delivery.pickupPoint placedItems.discountCode
    placedItems.eventId placedItems.sessionId fulfilledAt cancelledAt refundedAmount`,
  offers: `description compareAtPrice attendeeFormId pricing.bundleOfferId variantOptionLabels.option1
    variantOptionLabels.option2 variantOptionLabels.option3 inventory.option1 inventory.option2 inventory.option3`,
};

const VALUES: Readonly<Record<string, readonly unknown[]>> = {
  'orders.status': ['PENDING', 'FULFILLED', 'CANCELLED'],
  'orders.paymentStatus': ['PENDING', 'PAID', 'REFUNDED', 'PARTIALLY_REFUNDED'],
  'orders.delivery.type': ['home_delivery', 'pickup_point', 'on_site'],
  'orders.billingAddress.type': ['personal', 'company'],
  'orders.addOns.category': ['INSURANCE', 'DONATION'],
  'orders.placedItems.offerType': ['TICKET', 'PRODUCT'],
  'orders.ticketsProtected': [true, false],
  'tickets.status': ['FULFILLED', 'USED', 'CANCELLED'],
  'tickets.transferable': [true, false],
  'offers.type': ['TICKET', 'PRODUCT', 'BUNDLE'],
  'offers.pricing.resaleEnabled': [true, false],
  'events.currency': ['EUR', 'JPY', 'USD'],
};

const inFolder = folderForAll();

const SAMPLES = [
  {
    name: 'The default sample',
    read: async () => {
      await writeSample({ ...DEFAULT_SAMPLE, output: inFolder('.') });
      return readSample(inFolder('.'));
    },
  },
  { name: 'data/sample', read: () => readSample(join(import.meta.dirname, '../../../data/sample')) },
];

for (const { name, read } of SAMPLES) {
  describe(`${name} contains`, () => {
    let sample: Sample;
    const values: Values = new Map();

    before(async () => {
      sample = await read();
      for (const kind of ['events', 'tickets', 'orders', 'offers'] as const)
        collectValues(sample[kind], kind, values);
    });

    const valuesOf = (path: string) => [...(values.get(path) ?? [])];

    it('a value in every field, and null in every nullable one', () => {
      const paths = [...values.keys()];
      expect(paths.filter((path) => valuesOf(path).every((value) => value === null))).to.deep.equal([]);
      for (const [kind, fields] of Object.entries(NULLABLE)) {
        for (const field of fields.split(/\s+/)) expect(valuesOf(`${kind}.${field}`), field).to.include(null);
      }
    });

    it('every state, type and category', () => {
      for (const [path, expected] of Object.entries(VALUES))
        expect(valuesOf(path), path).to.have.members(expected);
    });

    it('orders of several items, of two events, with a bundle, and with a discount', () => {
      expect(sample.orders.some(({ placedItems }) => placedItems.length > 1)).to.be.true;
      const events = sample.orders.map(({ placedItems }) =>
        placedItems.flatMap(({ eventId }) => (eventId === null ? [] : [eventId])),
      );
      expect(events.some((ids) => new Set(ids).size > 1)).to.be.true;
      expect(sample.orders.some(({ discountAmount }) => discountAmount > 0)).to.be.true;
      const bundled = sample.offers.flatMap((offer) =>
        offer.type === 'BUNDLE' ? [] : offer.pricing.filter(({ bundleOfferId }) => bundleOfferId !== null),
      );
      const labels = new Set(bundled.map(({ name: label }) => label));
      expect(sample.tickets.some(({ priceLabel }) => labels.has(priceLabel))).to.be.true;
    });

    it('past, running and future events, with one session and with dozens, in several time zones', () => {
      const now = Date.parse(`${DEFAULT_SAMPLE.now}T00:00:00Z`);
      const starts = Map.groupBy(sample.sessions, ({ eventId }) => eventId);
      const phases = [...starts.values()].map((sessions) => {
        const times = sessions.map(({ startAt }) => Date.parse(startAt));
        if (Math.max(...times) < now) return 'past';
        return Math.min(...times) > now ? 'future' : 'running';
      });
      expect(new Set(phases)).to.have.length(3);
      const counts = [...starts.values()].map(({ length }) => length);
      expect(Math.min(...counts)).to.equal(1);
      expect(Math.max(...counts)).to.be.at.least(40);
      expect(valuesOf('events.eventTimezone')).to.have.length.at.least(3);
    });

    it('timestamps of all precisions, with an offset and with Z', () => {
      const timestamps = valuesOf('orders.updatedAt').join(' ');
      for (const form of [/T\d\d:\d\d:\d\d[+-]/, /\.\d{3}[+-]/, /\.\d{6}[+-]/, /\dZ/])
        expect(timestamps).to.match(form);
      expect(valuesOf('events.createdAt').join(' ')).to.match(/\.\d{3,6}Z/);
    });
  });
}

type Values = Map<string, Set<unknown>>;

/** Collects all values of each field by its path. Elements of a list have the path of the list. */
function collectValues(value: unknown, path: string, values: Values): void {
  const ofPath = values.getOrInsertComputed(path, () => new Set());
  if (Array.isArray(value)) {
    for (const element of value) collectValues(element, path, values);
    return;
  }
  ofPath.add(value);
  if (typeof value !== 'object' || value === null) return;
  for (const [name, field] of Object.entries(value)) collectValues(field, `${path}.${name}`, values);
}
