import { expect } from 'chai';
import { type Release, RELEASES } from '../../src/contract/releases.ts';
import { givenApi } from '../support/test-api.ts';

const CATALOG = ['/v1/catalog/offers', '/v1/catalog/offers/off_t'];

describe('Versioning', () => {
  const given = givenApi();

  for (const [header, version] of [
    [undefined, 'stable'],
    ['preview', 'preview'],
    ['2026-10-01', 'stable'],
  ] as const) {
    it(`serves ${version} for ${header ?? 'no header'}`, async () => {
      const { status, headers } = await given.api.send('/v1/events', {
        headers: header === undefined ? {} : { 'Service-API-Version': header },
      });
      expect(status).to.equal(200);
      expect(headers).to.include({
        'service-api-version': version,
        'service-api-latest-version': '2026-10-01',
      });
    });
  }

  it('is 400 for an invalid header, which the detail repeats', async () => {
    const { status, headers, body } = await given.api.send('/v1/events', {
      headers: { 'Service-API-Version': 'latest' },
    });
    expect(status).to.equal(400);
    expect(body).to.have.all.keys('detail');
    expect(body.detail).to.include('invalid API version').and.to.include('"latest"');
    expect(headers['service-api-version']).to.equal('stable');
  });

  it('is 400 for a repeated header, even with the same value', async () => {
    const response = await given.api.raw(
      'GET /v1/events HTTP/1.1\r\nHost: x\r\nConnection: close\r\nService-API-Version: stable\r\n' +
        `Service-API-Version: stable\r\nAuthorization: ${given.api.authorization('north')}\r\n\r\n`,
    );
    expect(response)
      .to.match(/^HTTP\/1.1 400 /)
      .and.to.include('invalid API version');
  });

  it('repeats only the beginning of a long value', async () => {
    for (const [length, repeated] of [
      [40, 'x'.repeat(40)],
      [41, `${'x'.repeat(40)}…`],
      [5000, `${'x'.repeat(40)}…`],
    ] as const) {
      const headers = { 'Service-API-Version': 'x'.repeat(length) };
      const { body } = await given.api.send('/v1/events', { headers });
      expect(body.detail, `${length} characters`).to.include(`"${repeated}" is an invalid API version`);
    }
  });

  it('hides preview operations from stable, and names the header that they need', async () => {
    for (const path of CATALOG) {
      const { status, body } = await given.api.send(path);
      expect(status).to.equal(404);
      expect(body.detail).to.include('Service-API-Version: preview');
    }
  });

  it('serves the other operations in preview, with another entity tag', async () => {
    const stable = await given.api.send('/v1/tickets');
    const preview = await given.api.send('/v1/tickets', { headers: { 'Service-API-Version': 'preview' } });
    expect(preview.text).to.equal(stable.text);
    expect(preview.headers['etag']).not.to.equal(stable.headers['etag']);
  });

  it('is named by no response outside /v1', async () => {
    for (const target of ['/healthz', '/none', '/v1x']) {
      const { headers } = await given.api.send(target);
      expect(headers).not.to.have.any.keys('service-api-version', 'service-api-latest-version');
    }
  });

  describe('when the catalog graduates', () => {
    const releases: readonly Release[] = [
      ...RELEASES,
      { date: '2027-03-01', operations: ['listOffers', 'getOffer'] },
    ];
    const graduating = givenApi(() => ({ releases }));

    const days: [now: string, header: string | undefined, status: number, version: string, latest: string][] =
      [
        ['2027-02-28T23:59:59.999Z', undefined, 404, 'stable', '2026-10-01'],
        ['2027-02-28T23:59:59.999Z', '2027-03-01', 200, '2027-03-01', '2026-10-01'],
        ['2027-03-01T00:00:00.000Z', undefined, 200, 'stable', '2027-03-01'],
        ['2027-03-01T00:00:00.000Z', '2026-10-01', 200, 'stable', '2027-03-01'],
        ['2027-03-01T00:00:00.000Z', 'preview', 200, 'preview', '2027-03-01'],
      ];
    for (const [now, header, status, version, latest] of days) {
      it(`at ${now} with ${header ?? 'no header'} it is ${status} in ${version}`, async () => {
        graduating.api.clock.now = Date.parse(now);
        for (const path of CATALOG) {
          const response = await graduating.api.send(path, {
            headers: header === undefined ? {} : { 'Service-API-Version': header },
          });
          expect(response.status).to.equal(status);
          expect(response.headers['service-api-version']).to.equal(version);
          expect(response.headers['service-api-latest-version']).to.equal(latest);
        }
      });
    }

    it('keeps the other operations in every version', async () => {
      graduating.api.clock.now = Date.parse('2027-02-01T00:00:00Z');
      for (const header of ['stable', '2027-03-01', 'preview']) {
        const headers = { 'Service-API-Version': header };
        expect(await graduating.api.send('/v1/events', { headers })).to.have.property('status', 200);
      }
    });
  });
});
