import { expect } from 'chai';
import { givenApi } from '../support/test-api.ts';

describe('Orders', () => {
  const given = givenApi();

  const filters: [query: string, ids: string[]][] = [
    ['', ['ord_2', 'ord_1', 'ord_0']],
    ['status=PENDING', ['ord_0']],
    ['status=CANCELLED', ['ord_2']],
    // ord_1 has items of both events, and appears once.
    ['eventIds=evt_a,evt_b', ['ord_1', 'ord_0']],
    ['eventIds=evt_b', ['ord_1']],
    ['eventIds=evt_south', []],
    ['email=zo%C3%A9%2Blist%40example.ORG', ['ord_1']],
    ['email=zoe%2Blist%40example.org', []],
    ['email=ORD_0@example.org', ['ord_0']],
    ['email=nobody', []],
    ['updatedAt.gte=2026-10-02T08:00:00Z', ['ord_2', 'ord_1']],
    ['updatedAt.gte=2026-10-02T08:00:00Z&status=FULFILLED&eventIds=evt_a', ['ord_1']],
  ];
  for (const [query, ids] of filters) {
    it(`filtered by ${query || 'nothing'} are ${ids.join(', ') || 'none'}, latest created first`, async () => {
      expect(await given.api.ids(`/v1/orders?${query}`)).to.deep.equal(ids);
    });
  }

  const refused: [query: string, word: string][] = [
    ['status=pending', 'PENDING, FULFILLED, CANCELLED'],
    ['status=PENDING,FULFILLED', 'PENDING, FULFILLED, CANCELLED'],
    ['status=', 'PENDING, FULFILLED, CANCELLED'],
    ['status=PENDING&status=PENDING', 'once'],
    ['email=', 'non-empty'],
    ['email=zo%C3%A9+list@example.org', '%2B'],
    ['eventIds=,', 'empty'],
  ];
  for (const [query, word] of refused) {
    it(`filtered by ${query} are refused`, async () => {
      const { status, body } = await given.api.send(`/v1/orders?${query}`);
      expect(status).to.equal(400);
      expect(body.errors).to.have.length(1);
      expect(body.errors[0].ctx).to.include(word);
    });
  }

  it('are served with all fields, absent ones as null, in sub-objects too', async () => {
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

  it('that are missing or of another organization are 404 with the same bytes', async () => {
    const missing = await given.api.send('/v1/orders/ord_none');
    const foreign = await given.api.send('/v1/orders/ord_south');
    expect([missing.status, foreign.status]).to.deep.equal([404, 404]);
    expect(foreign.text).to.equal(missing.text);
  });
});
