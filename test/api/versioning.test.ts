import { expect } from 'chai';
import { RELEASES } from '../../src/contract/releases.ts';
import { givenApi } from '../support/test-api.ts';

describe('Versioning', () => {
  const given = givenApi();

  it('is 400 for an invalid header, of which the detail repeats the beginning', async () => {
    for (const [invalid, repeated] of [
      ['latest', 'latest'],
      ['x'.repeat(40), 'x'.repeat(40)],
      ['x'.repeat(41), `${'x'.repeat(40)}…`],
    ]) {
      const headers = { 'Service-API-Version': invalid };
      const response = await given.api.send('/v1/events', { headers });
      expect(response.status).to.equal(400);
      expect(response.body.detail)
        .to.include(`"${repeated}" is an invalid API version`)
        .and.to.include('YYYY-MM-DD');
      expect(response.headers['service-api-version']).to.equal('stable');
    }
  });

  it('is 400 for a repeated header, even with the same value', async () => {
    const version = 'Service-API-Version: stable';
    const key = `Authorization: ${given.api.authorization('north')}`;
    const response = await given.api.rawLines('GET /v1/events HTTP/1.1', 'Host: x', version, version, key);
    expect(response).to.match(/^HTTP\/1\.1 400 [^]*invalid API version/);
  });

  it('is named by no response outside /v1', async () => {
    for (const target of ['/healthz', '/none', '/v1x']) {
      const { headers } = await given.api.send(target);
      expect(headers).not.to.have.any.keys('service-api-version', 'service-api-latest-version');
    }
  });
});

describe('The release of the catalog', () => {
  const given = givenApi(() => ({
    releases: [...RELEASES, { date: '2027-03-01', operations: ['listOffers', 'getOffer'] }],
  }));

  for (const [now, status, latest] of [
    ['2027-02-28T23:59:59.999Z', 404, '2026-10-01'],
    ['2027-03-01T00:00:00.000Z', 200, '2027-03-01'],
  ] as const)
    it(`${status === 200 ? 'serves' : 'hides'} it at ${now}`, async () => {
      given.api.clock.now = Date.parse(now);
      for (const path of ['/v1/catalog/offers', '/v1/catalog/offers/off_t']) {
        const response = await given.api.send(path);
        expect(response.status).to.equal(status);
        expect(response.headers).to.include({
          'service-api-version': 'stable',
          'service-api-latest-version': latest,
        });
      }
      expect(await given.api.send('/v1/events')).to.have.property('status', 200);
    });
});
