import { join } from 'node:path';
import { expect } from 'chai';
import { DEFAULT_SAMPLE, writeSample } from '../../../scripts/sample/write-sample.ts';
import { folderForAll } from '../../support/temporary-folder.ts';
import { readSample, type Sample } from './sample-folder.ts';

/** Fields that occur both with a value and with null. */
const NULLABLE = {
  events: ['description', 'imageUrl', 'venueName', 'venueAddress', 'venueAddress.addressLine2'],
  tickets: ['cancelledAt', 'seatingInfo', 'attendeeForm', 'customer.firstName', 'customer.lastName'],
  orders: [
    'customer.firstName',
    'customer.lastName',
    'billingAddress',
    'billingAddress.companyName',
    'billingAddress.vatNumber',
    'billingAddress.phone',
    'billingAddress.addressLine2',
    'discountCode',
    'paymentProvider',
    'paymentMethod',
    'delivery.carrierId',
    'delivery.homeDeliveryAddress',
    'delivery.homeDeliveryAddress.addressLine2',
    'delivery.pickupPoint',
    'placedItems.discountCode',
    'placedItems.eventId',
    'placedItems.sessionId',
    'fulfilledAt',
    'cancelledAt',
    'refundedAmount',
  ],
  offers: [
    'description',
    'compareAtPrice',
    'attendeeFormId',
    'pricing.bundleOfferId',
    'variantOptionLabels.option1',
    'variantOptionLabels.option2',
    'variantOptionLabels.option3',
    'inventory.option1',
    'inventory.option2',
    'inventory.option3',
  ],
} as const;

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

    before(async () => {
      sample = await read();
    });

    const valuesOf = (kind: keyof typeof NULLABLE, path: string) => [
      ...new Set(reach(sample[kind], path.split('.'))),
    ];

    for (const kind of ['events', 'tickets', 'orders', 'offers'] as const) {
      it(`a value for every field of ${kind}`, () => {
        const paths = new Map<string, boolean>();
        for (const record of sample[kind]) notePaths(record, '', paths);
        expect([...paths].filter(([, valued]) => !valued)).to.deep.equal([]);
      });

      it(`null in every nullable field of ${kind}`, () => {
        const without = NULLABLE[kind].filter((path) => !valuesOf(kind, path).includes(null));
        expect(without).to.deep.equal([]);
      });
    }

    it('every state, type and category', () => {
      expect(valuesOf('orders', 'status')).to.have.members(['PENDING', 'FULFILLED', 'CANCELLED']);
      expect(valuesOf('orders', 'paymentStatus')).to.have.members([
        'PENDING',
        'PAID',
        'REFUNDED',
        'PARTIALLY_REFUNDED',
      ]);
      expect(valuesOf('tickets', 'status')).to.have.members(['FULFILLED', 'USED', 'CANCELLED']);
      expect(valuesOf('orders', 'delivery.type')).to.have.members([
        'home_delivery',
        'pickup_point',
        'on_site',
      ]);
      expect(valuesOf('orders', 'billingAddress.type')).to.include.members(['personal', 'company']);
      expect(valuesOf('orders', 'addOns.category')).to.have.members(['INSURANCE', 'DONATION']);
      expect(valuesOf('orders', 'placedItems.offerType')).to.have.members(['TICKET', 'PRODUCT']);
      expect(valuesOf('orders', 'ticketsProtected')).to.have.members([true, false]);
      expect(valuesOf('offers', 'type')).to.have.members(['TICKET', 'PRODUCT', 'BUNDLE']);
      expect(valuesOf('offers', 'pricing.resaleEnabled')).to.include.members([true, false]);
      expect(valuesOf('tickets', 'transferable')).to.have.members([true, false]);
      expect(valuesOf('events', 'currency')).to.have.members(['EUR', 'JPY', 'USD']);
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
      expect(valuesOf('events', 'eventTimezone')).to.have.length.at.least(3);
    });

    it('timestamps of all precisions, with an offset and with Z', () => {
      const timestamps = valuesOf('orders', 'updatedAt').join(' ');
      expect(timestamps)
        .to.match(/T\d\d:\d\d:\d\d[+-]/)
        .and.match(/\.\d{3}[+-]/)
        .and.match(/\.\d{6}[+-]/);
      expect(timestamps).to.match(/\dZ/);
      expect(valuesOf('events', 'createdAt').join(' ')).to.match(/\.\d{3,6}Z/);
    });
  });
}

/** Returns the values at a path, in every element of arrays on the way. */
function reach(value: unknown, path: readonly string[]): unknown[] {
  if (Array.isArray(value)) return value.flatMap((element) => reach(element, path));
  const [name, ...rest] = path;
  if (path.length === 0 || value === null || typeof value !== 'object')
    return path.length === 0 ? [value] : [];
  return name in value ? reach(Object.entries(value).find(([key]) => key === name)?.[1], rest) : [];
}

/** Records for every path below a value whether it has anything but null and empty arrays. */
function notePaths(value: unknown, path: string, paths: Map<string, boolean>): void {
  if (Array.isArray(value)) {
    paths.set(path, value.length > 0 || paths.get(path) === true);
    for (const element of value) notePaths(element, path, paths);
    return;
  }
  if (path !== '') paths.set(path, value !== null || paths.get(path) === true);
  if (value === null || typeof value !== 'object') return;
  for (const [name, field] of Object.entries(value)) notePaths(field, `${path}.${name}`, paths);
}
