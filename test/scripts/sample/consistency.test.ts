import { expect } from 'chai';
import { writeSample } from '../../../scripts/sample/write-sample.ts';
import { parseTimestamp } from '../../../src/contract/timestamp.ts';
import { folderForAll } from '../../support/temporary-folder.ts';
import {
  type BundleOffer,
  byKey,
  found,
  grouped,
  type Offer,
  type ProductOffer,
  readSample,
  type Sample,
  type TicketOffer,
} from './sample-folder.ts';

const MINOR_UNITS = new Map([
  ['EUR', 100],
  ['USD', 100],
  ['JPY', 1],
]);

/** Four organizations, the fourth a branch of the first, with events in a second season. */
const OPTIONS = { organizations: 4, events: 45, tickets: 5000, seed: 20261121, now: '2026-11-21' };

describe(`A sample (seed ${OPTIONS.seed})`, () => {
  const inFolder = folderForAll();
  let sample: Sample;
  let offers: Map<string, Offer>;
  let sessions: Map<string, Sample['sessions'][number]>;
  let events: Map<string, Sample['events'][number]>;
  let ticketsOfOrder: Map<string, Sample['tickets']>;

  before(async () => {
    const output = inFolder('sample');
    await writeSample({ ...OPTIONS, output });
    sample = await readSample(output);
    offers = byKey(sample.offers, ({ offerId }) => offerId);
    sessions = byKey(sample.sessions, ({ id }) => id);
    events = byKey(sample.events, ({ id }) => id);
    ticketsOfOrder = grouped(sample.tickets, ({ orderId }) => orderId);
  });

  const ticketOffers = () => sample.offers.filter((offer): offer is TicketOffer => offer.type === 'TICKET');
  const products = () => sample.offers.filter((offer): offer is ProductOffer => offer.type === 'PRODUCT');
  const bundles = () => sample.offers.filter((offer): offer is BundleOffer => offer.type === 'BUNDLE');

  const minor = (value: number, currency: string): number => {
    const scaled = value * found(MINOR_UNITS, currency);
    const rounded = Math.round(scaled);
    // The amount is the double nearest to a whole number of minor units, without rounding errors of sums.
    expect(rounded / found(MINOR_UNITS, currency), `${value} ${currency}`).to.equal(value);
    return rounded;
  };

  const instant = (text: string): bigint => {
    const parsed = parseTimestamp(text);
    if (parsed === undefined) throw new Error(`invalid timestamp ${text}`);
    return parsed;
  };

  const isBase = (offer: TicketOffer) => {
    const cited = new Set(ticketOffers().flatMap(({ optionOffers }) => optionOffers.map(pairOf)));
    return offer.pricing.some(
      ({ pricingId, bundleOfferId }) =>
        bundleOfferId === null && !cited.has(pairOf({ offerId: offer.offerId, pricingId })),
    );
  };

  it('has no duplicate identifier', () => {
    byKey(sample.organizations, ({ organizationId }) => organizationId);
    byKey(sample.orders, ({ orderId }) => orderId);
    byKey(sample.orders, ({ organizationId, orderNumber }) => `${organizationId} ${orderNumber}`);
    byKey(sample.tickets, ({ ticketId }) => ticketId);
    byKey(sample.tickets, ({ qrCode }) => qrCode);
    byKey([...ticketOffers(), ...products()].flatMap(inventoryOf), ({ inventoryId }) => inventoryId);
    byKey(
      [...[...ticketOffers(), ...products()].flatMap(pricingOf), ...bundles()],
      ({ pricingId }) => pricingId,
    );
    const emails = sample.orders.map(({ organizationId, customer }) => ({ organizationId, ...customer }));
    for (const same of grouped(
      emails,
      ({ organizationId, email }) => `${organizationId} ${email}`,
    ).values()) {
      expect(new Set(same.map((customer) => JSON.stringify(customer)))).to.have.length(1);
    }
  });

  it('has an event for every session, whose start has the offset of the event’s time zone', () => {
    const offsets = new Map<string, Set<string>>();
    for (const session of sample.sessions) {
      const event = found(events, session.eventId);
      expect(session.organizationId).to.equal(event.organizationId);
      expect(session.durationMinutes).to.be.above(0);
      const seen = offsets.get(event.eventTimezone) ?? new Set();
      offsets.set(event.eventTimezone, seen.add(session.startAt.slice(-6)));
      const wall = new Intl.DateTimeFormat('sv-SE', {
        timeZone: event.eventTimezone,
        dateStyle: 'short',
        timeStyle: 'medium',
      }).format(Number(instant(session.startAt) / 1000n));
      expect(session.startAt.slice(0, 19)).to.equal(wall.replace(' ', 'T'));
    }
    expect(offsets.get('Europe/Paris')).to.deep.equal(new Set(['+01:00', '+02:00']));
    expect(offsets.get('Asia/Tokyo')).to.deep.equal(new Set(['+09:00']));
    expect(offsets.get('America/New_York')).to.deep.equal(new Set(['-05:00', '-04:00']));
    expect(offsets.get('America/St_Johns')?.has('-03:30')).to.be.true;
  });

  it('has a matching order, session, offer and pricing for every ticket', () => {
    const orders = byKey(sample.orders, ({ orderId }) => orderId);
    for (const ticket of sample.tickets) {
      const order = found(orders, ticket.orderId);
      const session = found(sessions, ticket.eventSessionId);
      const offer = found(offers, ticket.offerId);
      if (offer.type !== 'TICKET') throw new Error(`${ticket.ticketId} is sold as a ${offer.type}`);
      for (const record of [order, session, offer, found(events, ticket.eventId)]) {
        expect(record.organizationId).to.equal(ticket.organizationId);
      }
      expect(ticket).to.deep.include({
        eventId: session.eventId,
        eventSessionStartAt: session.startAt,
        offerName: offer.name,
        currency: offer.currency,
        orderNumber: order.orderNumber,
        salesChannelId: order.salesChannelId,
        salesChannelName: order.salesChannelName,
        customer: order.customer,
      });
      expect(offer.eventId).to.equal(ticket.eventId);
      const pricing = offer.pricing.filter(({ name }) => name === ticket.priceLabel);
      expect(pricing.map(({ price }) => price)).to.deep.equal([ticket.listPrice]);
      expect(ticket.attendeeForm?.formId ?? offer.attendeeFormId).to.equal(offer.attendeeFormId);
    }
  });

  it('has the tickets of each order’s items, at their prices, and none for a pending order', () => {
    const facts = (offerId: string, sessionId: string | null, label: string, prices: number[]) =>
      [offerId, sessionId, label, ...prices].join(' ');
    for (const order of sample.orders) {
      const issued = ticketsOfOrder.get(order.orderId) ?? [];
      const owed = order.placedItems
        .filter(({ offerType }) => offerType === 'TICKET')
        .flatMap((item) =>
          Array.from({ length: item.quantity }, () =>
            facts(item.offerId, item.sessionId, item.priceLabel, [
              item.unitPrice,
              item.unitPaidPrice,
              item.unitVatAmount,
            ]),
          ),
        );
      const had = issued.map((ticket) =>
        facts(ticket.offerId, ticket.eventSessionId, ticket.priceLabel, [
          ticket.listPrice,
          ticket.finalPaidPrice,
          ticket.vat,
        ]),
      );
      expect(had, order.orderId).to.have.members(order.status === 'PENDING' ? [] : owed);
      if (order.status === 'CANCELLED') {
        for (const ticket of issued) expect(ticket.status).to.equal('CANCELLED');
      }
    }
  });

  it('has consistent amounts in every order', () => {
    for (const order of sample.orders) {
      const units = (value: number) => minor(value, order.currency);
      const sum = (value: (item: (typeof order.placedItems)[number]) => number) =>
        order.placedItems.reduce((total, item) => total + units(value(item)) * item.quantity, 0);
      for (const item of order.placedItems) {
        expect(units(item.unitPaidPrice)).to.equal(units(item.unitPrice) - units(item.unitDiscountAmount));
        expect(item.discountCode).to.equal(item.unitDiscountAmount > 0 ? order.discountCode : null);
      }
      const addOns = order.addOns.reduce((total, addOn) => total + units(addOn.addOnPaidPrice), 0);
      const extras = units(order.serviceFees) + units(order.deliveryFees) + addOns;
      const cancelled = (ticketsOfOrder.get(order.orderId) ?? []).filter(
        ({ status }) => status === 'CANCELLED',
      );
      const returned = cancelled.reduce((total, ticket) => total + units(ticket.finalPaidPrice), 0);
      expect(
        {
          subtotal: units(order.subtotalPrice),
          subtotalPaid: units(order.subtotalPaidPrice),
          discount: units(order.discountAmount),
          vat: units(order.totalVatAmount),
          total: units(order.totalPrice),
          totalPaid: units(order.totalPaidPrice),
          discountCode: order.discountCode !== null,
          refunded: order.refundedAmount === null ? null : units(order.refundedAmount),
          insured: order.ticketsProtected,
        },
        order.orderId,
      ).to.deep.equal({
        subtotal: sum(({ unitPrice }) => unitPrice),
        subtotalPaid: sum(({ unitPaidPrice }) => unitPaidPrice),
        discount: sum(({ unitDiscountAmount }) => unitDiscountAmount),
        vat: sum(({ unitVatAmount }) => unitVatAmount),
        total: units(order.subtotalPrice) + extras,
        totalPaid: units(order.subtotalPaidPrice) + extras,
        discountCode: order.discountAmount > 0,
        refunded:
          order.status === 'CANCELLED'
            ? units(order.totalPaidPrice)
            : order.paymentStatus === 'PARTIALLY_REFUNDED'
              ? returned
              : null,
        insured: order.addOns.some(({ category }) => category === 'INSURANCE'),
      });
      if (order.refundedAmount === null) expect(cancelled).to.be.empty;
    }
  });

  it('has an offer, a pricing and an inventory for every item, within the quantity limits of an order', () => {
    for (const order of sample.orders) {
      const quantities = new Map<string, number>();
      for (const item of order.placedItems) {
        const offer = found(offers, item.offerId);
        if (offer.type === 'BUNDLE') throw new Error(`${order.orderId} has a bundle as item`);
        expect(item).to.include({ offerType: offer.type, offerName: offer.name });
        const prices = pricingOf(offer).filter(({ name }) => name === item.priceLabel);
        expect(prices.map(({ price }) => price)).to.deep.equal([item.unitPrice]);
        const inventory = inventoryOf(offer).find(({ inventoryId }) => inventoryId === item.inventoryId);
        expect(inventory, item.inventoryId).to.not.equal(undefined);
        if (offer.type === 'TICKET') expect(inventory).to.include({ sessionId: item.sessionId });
        quantities.set(item.offerId, (quantities.get(item.offerId) ?? 0) + item.quantity);
      }
      for (const [offerId, quantity] of quantities) {
        const { minQuantityPerOrder, maxQuantityPerOrder } = found(offers, offerId);
        expect(quantity).to.be.within(minQuantityPerOrder, maxQuantityPerOrder);
      }
    }
  });

  it('sells options only with their base ticket, for its session', () => {
    let sold = 0;
    for (const order of sample.orders) {
      for (const item of order.placedItems) {
        const offer = found(offers, item.offerId);
        if (offer.type === 'BUNDLE') throw new Error(`${order.orderId} has a bundle as item`);
        const pricing = pricingOf(offer).find(({ name }) => name === item.priceLabel);
        const pair = pairOf({ offerId: item.offerId, pricingId: pricing?.pricingId ?? '' });
        const bases = ticketOffers().filter(({ optionOffers }) => optionOffers.map(pairOf).includes(pair));
        if (bases.length === 0) continue;
        sold++;
        const baseItems = order.placedItems.filter(
          ({ offerId, sessionId }) =>
            sessionId === item.sessionId && bases.some((base) => base.offerId === offerId),
        );
        const baseTickets = baseItems.reduce((sum, { quantity }) => sum + quantity, 0);
        expect(baseTickets, `${order.orderId} ${item.offerName}`).to.be.at.least(item.quantity);
      }
    }
    expect(sold).to.be.above(50);
  });

  it('cites own pricings of the option offers, and has offers sold only as options', () => {
    for (const { optionOffers, eventId } of ticketOffers()) {
      for (const { offerId, pricingId } of optionOffers) {
        const option = found(offers, offerId);
        if (option.type === 'BUNDLE') throw new Error('a bundle is cited as an option');
        const pricing = pricingOf(option).find((candidate) => candidate.pricingId === pricingId);
        expect(pricing?.bundleOfferId).to.equal(null);
        expect(option.type === 'TICKET' ? [option.eventId] : option.heldByEventIds).to.include(eventId);
      }
    }
    expect(ticketOffers().filter((offer) => !isBase(offer))).to.not.be.empty;
  });

  it('has bundles of offers with pricings that name the bundle', () => {
    const pricings = [...ticketOffers(), ...products()].flatMap((offer) =>
      pricingOf(offer).map((pricing) => ({ ...pricing, offerId: offer.offerId })),
    );
    for (const bundle of bundles()) {
      const sold = pricings.filter(({ bundleOfferId }) => bundleOfferId === bundle.offerId);
      expect(sold.map(({ offerId, price }) => ({ offerId, price }))).to.have.deep.members(
        bundle.contains.map(({ offerId, price }) => ({ offerId, price })),
      );
      const total = bundle.contains.reduce(
        (sum, { price, quantity }) => sum + minor(price, bundle.currency) * quantity,
        0,
      );
      expect(minor(bundle.price, bundle.currency)).to.equal(total);
      const eventIds = bundle.contains.flatMap(({ offerId }) => {
        const offer = found(offers, offerId);
        return offer.type === 'TICKET' ? [offer.eventId] : [];
      });
      expect(bundle.heldByEventIds).to.have.members(eventIds);
    }
    const ids = new Set(bundles().map(({ offerId }) => offerId));
    for (const { bundleOfferId } of pricings)
      if (bundleOfferId !== null) expect(ids).to.include(bundleOfferId);
  });

  it('subtracts the sold and not cancelled quantity from each inventory', () => {
    const held = new Map<string, number>();
    const take = (key: string, quantity: number) => held.set(key, (held.get(key) ?? 0) + quantity);
    for (const ticket of sample.tickets) {
      if (ticket.status !== 'CANCELLED') take(`${ticket.offerId} ${ticket.eventSessionId}`, 1);
    }
    for (const { status, placedItems } of sample.orders) {
      if (status !== 'FULFILLED') continue;
      for (const item of placedItems) if (item.offerType === 'PRODUCT') take(item.inventoryId, item.quantity);
    }
    for (const offer of ticketOffers()) {
      const ofEvent = sample.sessions.filter(({ eventId }) => eventId === offer.eventId);
      expect(offer.inventory.map(({ sessionId }) => sessionId)).to.deep.equal(ofEvent.map(({ id }) => id));
      for (const { sessionId, totalStock, availableStock } of offer.inventory) {
        expect(totalStock - availableStock).to.equal(held.get(`${offer.offerId} ${sessionId}`) ?? 0);
        expect(availableStock).to.be.within(0, totalStock);
        expect(totalStock).to.be.at.most(offer.defaultMaximumCapacity);
      }
    }
    for (const { inventoryId, totalStock, availableStock } of products().flatMap(
      ({ inventory }) => inventory,
    )) {
      expect(totalStock - availableStock).to.equal(held.get(inventoryId) ?? 0);
      expect(availableStock).to.be.at.least(0);
    }
  });

  it('sells each numbered seat of a session at most once', () => {
    const seats = sample.tickets.flatMap(({ eventSessionId, seatingInfo }) =>
      seatingInfo && seatingInfo.seatNumber !== null ? [{ eventSessionId, ...seatingInfo }] : [],
    );
    expect(seats).to.have.length.above(1000);
    byKey(seats, (seat) => Object.values(seat).join(' '));
  });

  it('has timestamps in a possible order', () => {
    const now = instant(`${OPTIONS.now}T00:00:00Z`);
    const ascending = (...texts: (string | null)[]) => {
      const instants = texts.flatMap((text) => (text === null ? [] : [instant(text)]));
      expect(instants, texts.join(' ')).to.deep.equal([...instants].sort((a, b) => Number(a - b)));
    };
    const nowText = `${OPTIONS.now}T00:00:00Z`;
    for (const event of sample.events) {
      expect(event.createdAt + event.updatedAt).to.match(/^\S+Z\S+Z$/);
      ascending(event.createdAt, event.updatedAt, nowText);
    }
    for (const offer of ticketOffers()) ascending(found(events, offer.eventId).createdAt, offer.createdAt);
    for (const order of sample.orders) {
      ascending(order.createdAt, order.fulfilledAt, order.cancelledAt, order.updatedAt, nowText);
      for (const { offerId, sessionId } of order.placedItems) {
        ascending(
          found(offers, offerId).createdAt,
          order.createdAt,
          sessionId === null ? null : found(sessions, sessionId).startAt,
        );
      }
      expect(order.fulfilledAt === null).to.equal(order.status === 'PENDING');
      expect(order.cancelledAt !== null).to.equal(order.status === 'CANCELLED');
    }
    for (const ticket of sample.tickets) {
      const { issuedAt, cancelledAt, updatedAt, attendeeForm, eventSessionStartAt } = ticket;
      ascending(issuedAt, attendeeForm?.submittedAt ?? null, updatedAt, eventSessionStartAt);
      ascending(issuedAt, cancelledAt, updatedAt, nowText);
      expect(cancelledAt !== null).to.equal(ticket.status === 'CANCELLED');
      if (ticket.status === 'USED') expect(instant(eventSessionStartAt) <= now).to.be.true;
    }
  });
});

function pairOf({ offerId, pricingId }: { offerId: string; pricingId: string }): string {
  return `${offerId} ${pricingId}`;
}

function pricingOf(offer: TicketOffer | ProductOffer) {
  return offer.pricing.map(({ pricingId, name, price, bundleOfferId }) => ({
    pricingId,
    name,
    price,
    bundleOfferId,
  }));
}

function inventoryOf(offer: TicketOffer | ProductOffer): { inventoryId: string; sessionId?: string }[] {
  return offer.inventory;
}
