import { expect } from 'chai';
import { writeSample } from '../../../scripts/sample/write-sample.ts';
import { parseTimestamp } from '../../../src/contract/timestamp.ts';
import { build } from '../../support/import-folder.ts';
import { folderForAll } from '../../support/temporary-folder.ts';
import { readSample, type Sample } from './sample-folder.ts';

const MINOR_UNITS: Readonly<Record<string, number>> = { EUR: 100, USD: 100, JPY: 1 };

/** Four organizations, the fourth a branch of the first, with events in a second season. */
const OPTIONS = { organizations: 4, events: 45, tickets: 5000, seed: 20261121, now: '2026-11-21' };
const NOW = `${OPTIONS.now}T00:00:00Z`;

type Offer = Sample['offers'][number];
type Sold = Exclude<Offer, { type: 'BUNDLE' }>;
type TicketOffer = Extract<Offer, { type: 'TICKET' }>;
type Item = Sample['orders'][number]['placedItems'][number];

describe(`A sample (seed ${OPTIONS.seed})`, () => {
  const inFolder = folderForAll();
  let sample: Sample;
  /** All but the bundles, by id. */
  let soldOffers: Map<string, Sold>;
  let sessions: Map<string, Sample['sessions'][number]>;
  let events: Map<string, Sample['events'][number]>;
  let ticketsOfOrder: Map<string, Sample['tickets']>;

  before(async () => {
    await writeSample({ ...OPTIONS, output: inFolder('sample') });
    sample = await readSample(inFolder('sample'));
    const sold = sample.offers.filter((offer) => offer.type !== 'BUNDLE');
    soldOffers = new Map(sold.map((offer) => [offer.offerId, offer]));
    sessions = new Map(sample.sessions.map((session) => [session.id, session]));
    events = new Map(sample.events.map((event) => [event.id, event]));
    ticketsOfOrder = Map.groupBy(sample.tickets, ({ orderId }) => orderId);
  });

  const ticketOffers = () => sample.offers.filter((offer) => offer.type === 'TICKET');
  const bundles = () => sample.offers.filter((offer) => offer.type === 'BUNDLE');
  const items = () =>
    sample.orders.flatMap((order) => order.placedItems.map((item) => ({ order, item, ...saleOf(item) })));

  /** Returns the offer, the pricing and the inventory of a sold item. */
  function saleOf(item: Item) {
    const offer = found(soldOffers, item.offerId);
    const [pricing] = offer.pricing.filter(({ name }) => name === item.priceLabel);
    const [inventory] = offer.inventory.filter(({ inventoryId }) => inventoryId === item.inventoryId);
    return { offer, pricing, inventory };
  }

  const minor = (value: number, currency: string): number => {
    const rounded = Math.round(value * MINOR_UNITS[currency]);
    // The amount is the double nearest to a whole number of minor units, without rounding errors of sums.
    expect(rounded / MINOR_UNITS[currency], `${value} ${currency}`).to.equal(value);
    return rounded;
  };

  it('is built without a warning: its ids are unique, its references name records', async () => {
    const { warnings, dropped } = await build(inFolder('sample'), inFolder('a.sqlite'), { isStrict: true });
    expect(warnings).to.deep.equal([]);
    expect([...dropped.keys()]).to.deep.equal([]);
  });

  it('has no duplicate order number, customer, inventory, pricing or numbered seat', () => {
    const sold = [...soldOffers.values()];
    const customers = sample.orders.map(({ organizationId, customer }) => ({ organizationId, ...customer }));
    const emails = customers.map(({ organizationId, email }) => `${organizationId} ${email}`);
    expect(new Set(customers.map((customer) => JSON.stringify(customer)))).to.have.length(
      new Set(emails).size,
    );
    const seats = sample.tickets.flatMap(({ eventSessionId, seatingInfo }) =>
      seatingInfo && seatingInfo.seatNumber !== null ? [{ eventSessionId, ...seatingInfo }] : [],
    );
    expect(seats).to.have.length.above(1000);
    for (const keys of [
      sample.orders.map(({ organizationId, orderNumber }) => `${organizationId} ${orderNumber}`),
      sold.flatMap(({ inventory }) => inventory.map(({ inventoryId }) => inventoryId)),
      [...sold.flatMap<{ pricingId: string }>(({ pricing }) => pricing), ...bundles()].map(
        ({ pricingId }) => pricingId,
      ),
      seats.map((seat) => Object.values(seat).join(' ')),
    ]) {
      expect(new Set(keys)).to.have.length(keys.length);
    }
  });

  it('has session starts with the offset of the event’s time zone', () => {
    const offsets = new Map<string, Set<string>>();
    for (const { startAt, eventId } of sample.sessions) {
      const { eventTimezone: timeZone } = found(events, eventId);
      offsets.getOrInsertComputed(timeZone, () => new Set()).add(startAt.slice(-6));
      const wall = new Date(startAt).toLocaleString('sv-SE', { timeZone });
      expect(startAt.slice(0, 19)).to.equal(wall.replace(' ', 'T'));
    }
    expect(offsets.get('Europe/Paris')).to.deep.equal(new Set(['+01:00', '+02:00']));
    expect(offsets.get('Asia/Tokyo')).to.deep.equal(new Set(['+09:00']));
    expect(offsets.get('America/New_York')).to.deep.equal(new Set(['-05:00', '-04:00']));
    expect(offsets.get('America/St_Johns')?.has('-03:30')).to.be.true;
  });

  it('has tickets that agree with their order, session, offer and pricing', () => {
    const orders = new Map(sample.orders.map((order) => [order.orderId, order]));
    for (const ticket of sample.tickets) {
      const order = found(orders, ticket.orderId);
      const session = found(sessions, ticket.eventSessionId);
      const offer = found(soldOffers, ticket.offerId);
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
      expect(offer).to.include({ type: 'TICKET', eventId: ticket.eventId });
      const pricing = offer.pricing.filter(({ name }) => name === ticket.priceLabel);
      expect(pricing.map(({ price }) => price)).to.deep.equal([ticket.listPrice]);
      if (ticket.attendeeForm) expect(offer).to.include({ attendeeFormId: ticket.attendeeForm.formId });
    }
  });

  it('has the tickets of each order’s items, at their prices, and none for a pending order', () => {
    for (const order of sample.orders) {
      const issued = ticketsOfOrder.get(order.orderId) ?? [];
      const owed = order.placedItems
        .filter(({ offerType }) => order.status !== 'PENDING' && offerType === 'TICKET')
        .flatMap((item) => Array.from({ length: item.quantity }, () => item));
      expect(
        issued.map(({ offerId, eventSessionId, priceLabel, listPrice, finalPaidPrice, vat }) =>
          [offerId, eventSessionId, priceLabel, listPrice, finalPaidPrice, vat].join(' '),
        ),
        order.orderId,
      ).to.have.members(
        owed.map(({ offerId, sessionId, priceLabel, unitPrice, unitPaidPrice, unitVatAmount }) =>
          [offerId, sessionId, priceLabel, unitPrice, unitPaidPrice, unitVatAmount].join(' '),
        ),
      );
      if (order.status === 'CANCELLED')
        for (const ticket of issued) expect(ticket.status).to.equal('CANCELLED');
    }
  });

  it('has consistent amounts in every order', () => {
    for (const order of sample.orders) {
      const units = (value: number) => minor(value, order.currency);
      const sum = (value: (item: Item) => number) =>
        total(order.placedItems.map((item) => units(value(item)) * item.quantity));
      for (const item of order.placedItems) {
        expect(units(item.unitPaidPrice)).to.equal(units(item.unitPrice) - units(item.unitDiscountAmount));
        expect(item.discountCode).to.equal(item.unitDiscountAmount > 0 ? order.discountCode : null);
      }
      const addOns = order.addOns.map(({ addOnPaidPrice }) => addOnPaidPrice);
      const extras = total([order.serviceFees, order.deliveryFees, ...addOns].map(units));
      const tickets = ticketsOfOrder.get(order.orderId) ?? [];
      const cancelled = tickets.filter(({ status }) => status === 'CANCELLED');
      const refunded = order.refundedAmount === null ? null : units(order.refundedAmount);
      expect(
        {
          subtotal: units(order.subtotalPrice),
          subtotalPaid: units(order.subtotalPaidPrice),
          discount: units(order.discountAmount),
          vat: units(order.totalVatAmount),
          total: units(order.totalPrice),
          totalPaid: units(order.totalPaidPrice),
          discountCode: order.discountCode !== null,
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
        insured: order.addOns.some(({ category }) => category === 'INSURANCE'),
      });
      if (order.status === 'CANCELLED') expect(refunded).to.equal(units(order.totalPaidPrice));
      else if (order.paymentStatus === 'PARTIALLY_REFUNDED')
        expect(refunded).to.equal(total(cancelled.map(({ finalPaidPrice }) => units(finalPaidPrice))));
      else expect([refunded, cancelled]).to.deep.equal([null, []]);
    }
  });

  it('has items that agree with an offer, a pricing and an inventory, within the limits of an order', () => {
    for (const { item, offer, pricing, inventory } of items()) {
      expect(item).to.include({ offerType: offer.type, offerName: offer.name, unitPrice: pricing.price });
      expect(inventory).to.include(offer.type === 'TICKET' ? { sessionId: item.sessionId } : {});
    }
    for (const { placedItems } of sample.orders) {
      for (const [offerId, ofOffer] of Map.groupBy(placedItems, (item) => item.offerId)) {
        const { minQuantityPerOrder, maxQuantityPerOrder } = found(soldOffers, offerId);
        expect(quantityOf(ofOffer)).to.be.within(minQuantityPerOrder, maxQuantityPerOrder);
      }
    }
  });

  it('sells options only with their base ticket, for its session', () => {
    const bases = new Map<string, TicketOffer[]>();
    for (const base of ticketOffers()) {
      for (const { offerId, pricingId } of base.optionOffers) {
        const option = found(soldOffers, offerId);
        expect(option.pricing.find((one) => one.pricingId === pricingId)?.bundleOfferId).to.equal(null);
        expect(option.type === 'TICKET' ? [option.eventId] : option.heldByEventIds).to.include(base.eventId);
        bases.getOrInsertComputed(pricingId, () => []).push(base);
      }
    }
    const isOption = ({ pricingId, bundleOfferId }: Sold['pricing'][number]) =>
      bases.has(pricingId) || bundleOfferId !== null;
    expect(ticketOffers().filter((offer) => offer.pricing.every(isOption))).to.not.be.empty;

    const options = items().filter(({ pricing }) => bases.has(pricing.pricingId));
    expect(options).to.have.length.above(50);
    for (const { order, item, pricing } of options) {
      const ids = bases.get(pricing.pricingId)?.map(({ offerId }) => offerId) ?? [];
      const baseItems = order.placedItems.filter(
        ({ offerId, sessionId }) => sessionId === item.sessionId && ids.includes(offerId),
      );
      expect(quantityOf(baseItems), `${order.orderId} ${item.offerName}`).to.be.at.least(item.quantity);
    }
  });

  it('has bundles of offers with pricings that name the bundle', () => {
    const pricings = [...soldOffers.values()].flatMap((offer) =>
      offer.pricing.map(({ price, bundleOfferId }) => ({ offerId: offer.offerId, price, bundleOfferId })),
    );
    for (const { offerId: bundleOfferId, contains, price, currency, heldByEventIds } of bundles()) {
      expect(pricings.filter((pricing) => pricing.bundleOfferId === bundleOfferId)).to.have.deep.members(
        contains.map((part) => ({ offerId: part.offerId, price: part.price, bundleOfferId })),
      );
      expect(minor(price, currency)).to.equal(
        total(contains.map((part) => minor(part.price, currency) * part.quantity)),
      );
      const offers = contains.map(({ offerId }) => found(soldOffers, offerId));
      expect(heldByEventIds).to.have.members(
        offers.flatMap((offer) => (offer.type === 'TICKET' ? [offer.eventId] : [])),
      );
    }
  });

  it('subtracts the sold and not cancelled quantity from each inventory', () => {
    const held = new Map<string, number>();
    const take = (key: string, quantity: number) => held.set(key, (held.get(key) ?? 0) + quantity);
    for (const ticket of sample.tickets)
      if (ticket.status !== 'CANCELLED') take(`${ticket.offerId} ${ticket.eventSessionId}`, 1);
    for (const { order, item } of items())
      if (order.status === 'FULFILLED' && item.offerType === 'PRODUCT') take(item.inventoryId, item.quantity);

    for (const offer of soldOffers.values()) {
      for (const entry of offer.inventory) {
        const { inventoryId, totalStock, availableStock } = entry;
        const key = 'sessionId' in entry ? `${offer.offerId} ${entry.sessionId}` : inventoryId;
        expect(totalStock - availableStock).to.equal(held.get(key) ?? 0);
        expect(availableStock).to.be.within(0, totalStock);
        if (offer.type === 'TICKET') expect(totalStock).to.be.at.most(offer.defaultMaximumCapacity);
      }
    }
    for (const { eventId, inventory } of ticketOffers()) {
      const ofEvent = sample.sessions.filter((session) => session.eventId === eventId);
      expect(inventory.map(({ sessionId }) => sessionId)).to.deep.equal(ofEvent.map(({ id }) => id));
    }
  });

  it('has timestamps in a possible order', () => {
    const ascending = (...texts: (string | null | undefined)[]) => {
      const instants = texts.flatMap((text) => (text ? [parseTimestamp(text) ?? expect.fail(text)] : []));
      expect(instants, texts.join(' ')).to.deep.equal(instants.toSorted((a, b) => Number(a - b)));
    };
    for (const { createdAt, updatedAt } of sample.events) {
      expect(createdAt + updatedAt).to.match(/^\S+Z\S+Z$/);
      ascending(createdAt, updatedAt, NOW);
    }
    for (const offer of ticketOffers()) ascending(found(events, offer.eventId).createdAt, offer.createdAt);
    for (const { order, item, offer } of items())
      ascending(offer.createdAt, order.createdAt, sessions.get(item.sessionId ?? '')?.startAt);
    for (const { status, createdAt, fulfilledAt, cancelledAt, updatedAt } of sample.orders) {
      ascending(createdAt, fulfilledAt, cancelledAt, updatedAt, NOW);
      expect(fulfilledAt === null).to.equal(status === 'PENDING');
      expect(cancelledAt !== null).to.equal(status === 'CANCELLED');
    }
    for (const ticket of sample.tickets) {
      const { status, issuedAt, cancelledAt, updatedAt, eventSessionStartAt } = ticket;
      ascending(issuedAt, ticket.attendeeForm?.submittedAt, updatedAt, eventSessionStartAt);
      ascending(issuedAt, cancelledAt, updatedAt, NOW);
      expect(cancelledAt !== null).to.equal(status === 'CANCELLED');
      if (status === 'USED') ascending(eventSessionStartAt, NOW);
    }
  });
});

function found<T>(map: ReadonlyMap<string, T>, key: string): T {
  return map.get(key) ?? expect.fail(`no ${key}`);
}

function total(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

function quantityOf(items: readonly Item[]): number {
  return total(items.map(({ quantity }) => quantity));
}
