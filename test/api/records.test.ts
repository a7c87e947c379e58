import { expect } from 'chai';
import { givenApi } from '../support/test-api.ts';

const PREVIEW = { headers: { 'Service-API-Version': 'preview' } };

describe('Records', () => {
  const given = givenApi();

  it('of sessions are listed after their query is validated, and the page after their event is found', async () => {
    expect(await given.api.send('/v1/events/evt_none/sessions?page=0')).to.have.property('status', 400);
    expect(await given.api.send('/v1/events/evt_none/sessions?page=9')).to.have.property('status', 404);
  });
});

describe('Catalog offers', () => {
  const given = givenApi();

  for (const [query, offer, pricings, sessions, control] of [
    ['eventId=evt_a', 0, ['prc_yes', 'prc_no'], ['ses_a1', 'ses_a2'], 'private, no-cache'],
    ['resaleEnabled=true', 0, ['prc_yes'], ['ses_a1', 'ses_a2'], 'no-store'],
    ['sessionId=ses_a2', 0, ['prc_yes', 'prc_no'], ['ses_a2'], 'no-store'],
    ['sessionId=ses_a2', 1, ['prc_u'], [], 'no-store'],
    ['sessionId=ses_a1&resaleEnabled=true', 0, ['prc_yes'], ['ses_a1'], 'no-store'],
  ] as const) {
    it(`have the parts that match, and a partial view must not be stored: offer ${offer}, ${query}`, async () => {
      const { headers, body } = await given.api.send(`/v1/catalog/offers?${query}`, PREVIEW);
      const { pricing, inventory } = body.items[offer] as Readonly<Record<string, Record<string, string>[]>>;
      expect(pricing.map(({ pricingId }) => pricingId)).to.deep.equal(pricings);
      expect(inventory.map(({ sessionId }) => sessionId)).to.deep.equal(sessions);
      expect(headers['cache-control']).to.equal(control);
      expect(headers).to.have.property('etag');
    });
  }

  it('are complete alone, with any query', async () => {
    const target = '/v1/catalog/offers/off_t?resaleEnabled=true&sessionId=ses_a1';
    const { headers, body } = await given.api.send(target, PREVIEW);
    for (const part of ['pricing', 'inventory']) expect(body[part]).to.have.length(2);
    expect(headers).to.include({
      'service-api-ignored-parameters': 'resaleEnabled, sessionId',
      'cache-control': 'private, no-cache',
    });
  });
});
