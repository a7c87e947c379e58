import { expect } from 'chai';
import { givenApi } from '../support/test-api.ts';

const PREVIEW = { headers: { 'Service-API-Version': 'preview' } };

describe('Records', () => {
  const given = givenApi();

  for (const path of ['/v1/events', '/v1/tickets', '/v1/orders', '/v1/catalog/offers']) {
    it(`are equal alone and in the list: ${path}`, async () => {
      const { body: list } = await given.api.send(`${path}?perPage=5`, PREVIEW);
      for (const item of list.items) {
        const id = encodeURIComponent(String(Object.values(item)[0]));
        expect((await given.api.send(`${path}/${id}`, PREVIEW)).body).to.deep.equal(item);
      }
    });
  }

  for (const path of [
    '/v1/events/evt_ID',
    '/v1/events/evt_ID/sessions',
    '/v1/tickets/tkt_ID',
    '/v1/orders/ord_ID',
    '/v1/catalog/offers/off_ID',
  ]) {
    it(`that are missing or of another organization are 404 with the same bytes: ${path}`, async () => {
      const missing = await given.api.send(path.replace('ID', 'none'), PREVIEW);
      const foreign = await given.api.send(path.replace('ID', 'south'), PREVIEW);
      expect([missing.status, foreign.status]).to.deep.equal([404, 404]);
      expect(foreign.text).to.equal(missing.text);
      const own = await given.api.send(path.replace('ID', 'south'), { ...PREVIEW, as: 'south' });
      expect(own.status).to.equal(200);
    });
  }

  it('of events have all fields, absent ones as null', async () => {
    const { body } = await given.api.send('/v1/events/evt_a');
    expect(body).to.deep.equal({
      id: 'evt_a',
      createdAt: '2026-09-01T08:00:00Z',
      updatedAt: '2026-11-01T09:00:00Z',
      title: 'Event evt_a',
      description: null,
      imageUrl: null,
      venueName: null,
      venueAddress: {
        addressLine1: '1 quai',
        addressLine2: null,
        city: 'Rennes',
        postalCode: '35000',
        countryCode: 'FR',
      },
      eventTimezone: 'Europe/Paris',
      currency: 'EUR',
      tags: ['Théâtre', 'Hip  Hop'],
      sessionCount: 2,
      firstSessionStartAt: '2027-01-01T20:00:00+01:00',
      lastSessionStartAt: '2027-02-01T20:00:00+01:00',
      nextSessionStartAt: '2027-01-01T20:00:00+01:00',
      nextSessionId: 'ses_a1',
    });
  });

  it('of sessions have the start and the duration', async () => {
    const { body } = await given.api.send('/v1/events/evt_a/sessions?perPage=1');
    expect(body.items).to.deep.equal([
      { id: 'ses_a1', startAt: '2027-01-01T20:00:00+01:00', durationMinutes: 90 },
    ]);
  });

  it('of orders have all fields, absent ones as null, in sub-objects too', async () => {
    const { body } = await given.api.send('/v1/orders/ord_1');
    expect(body).to.deep.include({
      orderId: 'ord_1',
      customer: { customerId: 'cus_1', email: 'Zoé+List@Example.org', firstName: 'Zoé', lastName: null },
      billingAddress: null,
      addOns: [],
      optIns: [],
      totalPrice: null,
    });
    expect(body).to.have.nested.property('delivery.pickupPoint', null);
    expect(body['delivery']).to.have.property('homeDeliveryAddress').that.deep.equals({
      type: 'personal',
      firstName: null,
      lastName: null,
      companyName: null,
      vatNumber: null,
      phone: null,
      addressLine1: '1 rue',
      addressLine2: null,
      city: 'Nantes',
      postalCode: '44000',
      countryCode: 'FR',
    });
  });

  it('of events are those of the organization alone', async () => {
    expect(await given.api.ids('/v1/events', { as: 'south' })).to.deep.equal(['evt_south', 'evt_a']);
  });
});

describe('The sessions of an event', () => {
  const given = givenApi();

  it('are validated before the event is looked up, and the event before the page', async () => {
    expect(await given.api.send('/v1/events/evt_none/sessions?page=0')).to.have.property('status', 400);
    expect(await given.api.send('/v1/events/evt_none/sessions?page=9')).to.have.property('status', 404);
  });
});

describe('Catalog offers', () => {
  const given = givenApi();

  const parts: [query: string, offer: number, pricings: string[], sessions: string[]][] = [
    ['', 0, ['prc_yes', 'prc_no'], ['ses_a1', 'ses_a2']],
    ['resaleEnabled=true', 0, ['prc_yes'], ['ses_a1', 'ses_a2']],
    ['resaleEnabled=false', 0, ['prc_no'], ['ses_a1', 'ses_a2']],
    ['sessionId=ses_a2', 0, ['prc_yes', 'prc_no'], ['ses_a2']],
    ['sessionId=ses_a2', 1, ['prc_u'], []],
    ['sessionId=ses_a1&resaleEnabled=true', 0, ['prc_yes'], ['ses_a1']],
  ];
  for (const [query, offer, pricings, sessions] of parts) {
    it(`show the matching parts of offer ${offer} with ${query || 'no filter'}`, async () => {
      const { body } = await given.api.send(`/v1/catalog/offers?${query}`, PREVIEW);
      const { pricing, inventory } = body.items[offer] as Readonly<Record<string, Record<string, string>[]>>;
      expect(pricing.map(({ pricingId }) => pricingId)).to.deep.equal(pricings);
      expect(inventory.map(({ sessionId }) => sessionId)).to.deep.equal(sessions);
    });
  }

  it('are partial views with resaleEnabled or sessionId, which must not be stored', async () => {
    for (const [query, control] of [
      ['resaleEnabled=true', 'no-store'],
      ['sessionId=ses_a1', 'no-store'],
      ['sessionId=none', 'no-store'],
      ['eventId=evt_a', 'private, no-cache'],
    ]) {
      const { headers } = await given.api.send(`/v1/catalog/offers?${query}`, PREVIEW);
      expect(headers['cache-control']).to.equal(control);
      expect(headers).to.have.property('etag');
    }
  });

  it('are complete alone, with any query', async () => {
    const { status, headers, body } = await given.api.send(
      '/v1/catalog/offers/off_t?resaleEnabled=true&sessionId=ses_a1',
      PREVIEW,
    );
    expect(status).to.equal(200);
    for (const part of ['pricing', 'inventory']) expect(body[part]).to.have.length(2);
    expect(headers).to.include({
      'service-api-ignored-parameters': 'resaleEnabled, sessionId',
      'cache-control': 'private, no-cache',
    });
  });

  it('report their event only when they are tickets, and never the events that hold them', async () => {
    for (const id of ['off_p', 'off_b']) {
      const { body } = await given.api.send(`/v1/catalog/offers/${id}`, PREVIEW);
      expect(body).not.to.have.any.keys('eventId', 'heldByEventIds');
    }
  });
});
