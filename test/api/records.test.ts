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

  for (const [query, control] of [
    ['eventId=evt_a', 'private, no-cache'],
    ['resaleEnabled=true', 'no-store'],
    ['sessionId=ses_a2', 'no-store'],
  ])
    it(`have a tag, and must not be stored as a partial view: ${query}`, async () => {
      const { headers } = await given.api.send(`/v1/catalog/offers?${query}`, PREVIEW);
      expect(headers).to.include({ 'cache-control': control }).and.to.have.property('etag');
    });

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
