import { expect } from 'chai';
import { givenApi } from '../support/test-api.ts';

const preview = { headers: { 'Service-API-Version': 'preview' } };

describe('Catalog offers', () => {
  const given = givenApi();

  const filters: [query: string, ids: string[]][] = [
    ['', ['off_t', 'off_u', 'off_p', 'off_b']],
    ['type=BUNDLE', ['off_b']],
    ['type=TICKET', ['off_t', 'off_u']],
    ['eventId=evt_a', ['off_t', 'off_p', 'off_b']],
    ['eventId=evt_b', ['off_u', 'off_b']],
    ['eventId=evt_b&type=PRODUCT', []],
    ['eventId=evt_south', []],
    ['resaleEnabled=true', ['off_t']],
    ['resaleEnabled=false', ['off_t', 'off_u']],
    ['resaleEnabled=false&type=PRODUCT', []],
    ['sessionId=ses_b1', ['off_t', 'off_u', 'off_p', 'off_b']],
    ['createdAt.gte=2026-09-02T08:00:00Z&createdAt.lte=2026-09-03T08:00:00Z', ['off_u', 'off_p']],
  ];
  for (const [query, ids] of filters) {
    it(`filtered by ${query || 'nothing'} are ${ids.join(', ') || 'none'}, earliest created first`, async () => {
      expect(await given.api.ids(`/v1/catalog/offers?${query}`, preview)).to.deep.equal(ids);
    });
  }

  for (const query of ['type=ticket', 'resaleEnabled=TRUE', 'resaleEnabled=1', 'sessionId=', 'eventId=']) {
    it(`filtered by ${query} are refused`, async () => {
      const { status, body } = await given.api.send(`/v1/catalog/offers?${query}`, preview);
      expect(status).to.equal(400);
      expect(body.errors[0].loc).to.equal(`query.${query.split('=')[0]}`);
    });
  }

  const cut: [query: string, offer: number, pricings: string[], sessions: string[]][] = [
    ['', 0, ['prc_yes', 'prc_no'], ['ses_a1', 'ses_a2']],
    ['resaleEnabled=true', 0, ['prc_yes'], ['ses_a1', 'ses_a2']],
    ['resaleEnabled=false', 0, ['prc_no'], ['ses_a1', 'ses_a2']],
    ['sessionId=ses_a2', 0, ['prc_yes', 'prc_no'], ['ses_a2']],
    ['sessionId=ses_a2', 1, ['prc_u'], []],
    ['sessionId=ses_a1&resaleEnabled=true', 0, ['prc_yes'], ['ses_a1']],
  ];
  for (const [query, offer, pricings, sessions] of cut) {
    it(`shows the matching parts of offer ${offer} with ${query || 'no filter'}`, async () => {
      const { body } = await given.api.send(`/v1/catalog/offers?${query}`, preview);
      expect(body.items[offer]).to.have.property('pricing').that.has.length(pricings.length);
      expect(JSON.stringify(body.items[offer])).to.include(pricings[0]);
      const shown = body.items[offer]['inventory'] as { sessionId: string }[];
      expect(shown.map(({ sessionId }) => sessionId)).to.deep.equal(sessions);
    });
  }

  it('are partial views with resaleEnabled or sessionId, which must not be stored', async () => {
    for (const query of ['resaleEnabled=true', 'sessionId=ses_a1', 'sessionId=none']) {
      const { headers } = await given.api.send(`/v1/catalog/offers?${query}`, preview);
      expect(headers['cache-control']).to.equal('no-store');
      expect(headers).to.have.property('etag');
    }
    const { headers } = await given.api.send('/v1/catalog/offers?eventId=evt_a', preview);
    expect(headers['cache-control']).to.equal('private, no-cache');
  });

  it('are complete alone, with any query', async () => {
    const { status, headers, body } = await given.api.send(
      '/v1/catalog/offers/off_t?resaleEnabled=true&sessionId=ses_a1',
      preview,
    );
    expect(status).to.equal(200);
    expect(body['pricing']).to.have.length(2);
    expect(body['inventory']).to.have.length(2);
    expect(headers['service-api-ignored-parameters']).to.equal('resaleEnabled, sessionId');
    expect(headers['cache-control']).to.equal('private, no-cache');
  });

  it('report their event only when they are tickets, and never the events that hold them', async () => {
    for (const id of ['off_p', 'off_b']) {
      const { body } = await given.api.send(`/v1/catalog/offers/${id}`, preview);
      expect(body).not.to.have.any.keys('eventId', 'heldByEventIds');
    }
  });

  it('that are missing or of another organization are 404 with the same bytes', async () => {
    const missing = await given.api.send('/v1/catalog/offers/off_none', preview);
    const foreign = await given.api.send('/v1/catalog/offers/off_south', preview);
    expect([missing.status, foreign.status]).to.deep.equal([404, 404]);
    expect(foreign.text).to.equal(missing.text);
  });
});
